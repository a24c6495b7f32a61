"""Surestep for agent code: start or attach, wait, recall, decide, and see what is unresolved."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Literal, Self
from uuid import uuid4

from pydantic import ValidationError
from temporalio.client import (
    Client,
    WorkflowUpdateFailedError,
)
from temporalio.service import RPCError, RPCStatusCode

from surestep import visibility
from surestep.answer import answer_to
from surestep.decision import Decision, Ruling, Verdict
from surestep.entrance import Entrance
from surestep.errors import (
    InvalidArguments,
    NoSuchStep,
    SurestepError,
    describe_validation,
)
from surestep.handle import StepHandle
from surestep.identity import check_step_id, watched_step
from surestep.outage import Outage, told_as
from surestep.outcome import StepOutcome
from surestep.protocol import (
    ACKNOWLEDGE,
    NOTICE,
    STEP_WORKFLOW,
    TASK_QUEUE,
    WATCH_WORKFLOW,
    StepInput,
)
from surestep.submission import submission
from surestep.summary import StepSummary, summarise
from surestep.tool import Action


class Surestep:
    """The client. Get one with `async with Surestep.connect() as surestep:`."""

    def __init__(
        self, client: Client, *, task_queue: str = TASK_QUEUE, ui_url: str | None = None
    ) -> None:
        self.client = client
        self.task_queue = task_queue
        self.ui_url = ui_url

    @classmethod
    @asynccontextmanager
    async def connect(cls) -> AsyncIterator[Self]:
        """Connect to the server that the environment names, or to the embedded one.

        Raises CannotConnect and SettingsError.
        """
        from surestep.connection import connection
        from surestep.settings import Settings

        settings = Settings.from_environment()
        async with connection(settings) as connected:
            yield cls(connected.client, task_queue=settings.task_queue, ui_url=connected.ui_url)

    async def run(
        self,
        step_id: str,
        *actions: Action,
        run: str = "",
        label: str = "",
        mode: Literal["sequential", "parallel"] = "sequential",
        undo_on_failure: bool = False,
        within: timedelta | None = None,
    ) -> StepOutcome:
        """Perform the step, or attach to it if it exists; wait until it is settled.

        step_id  names the intent, never a model's call id: the same intent, the same id
        run      the agent's run, for lists; label: what a person reads
        within   longest wait; None: however long it takes

        Raises InvalidStepId and InvalidArguments before anything starts, StepConflict if the
        step exists with other input, StepPending after `within`, StepFailed if the step was
        ended from outside. An outage of the server is sat out, and told of by a warning; where
        `within` ends before the step could be submitted, CannotConnect is raised.
        """
        step = submission(
            step_id, actions, run=run, label=label, mode=mode, undo_on_failure=undo_on_failure
        )
        until = None if within is None else time.monotonic() + within.total_seconds()
        await self._submit(step_id, step, until)
        return await self.handle(step_id).outcome(within=within)

    async def start(
        self,
        step_id: str,
        *actions: Action,
        run: str = "",
        label: str = "",
        mode: Literal["sequential", "parallel"] = "sequential",
        undo_on_failure: bool = False,
    ) -> StepHandle:
        """Like `run`, without any wait. Raises CannotConnect where the server does not answer."""
        step = submission(
            step_id, actions, run=run, label=label, mode=mode, undo_on_failure=undo_on_failure
        )
        await self._submit(step_id, step, until=time.monotonic())
        return self.handle(step_id)

    def handle(self, step_id: str) -> StepHandle:
        """A handle of a step that may or may not exist; no call is made."""
        return StepHandle(self.client, step_id, self.ui_url)

    async def recall(self, step_id: str, *, within: timedelta | None = None) -> StepOutcome | None:
        """The outcome of an existing step, waited for if it is not settled; None: no such step.

        A restarted agent recalls first, and asks its model only if there is nothing to recall.
        Raises CannotConnect where the server does not answer.
        """
        check_step_id(step_id)
        handle = self.handle(step_id)
        with told_as(self.client, f"Whether there is a step {step_id!r} is not known. Ask again"):
            if not await handle.exists():
                return None
        return await handle.outcome(within=within)

    async def decide(
        self,
        target: str,
        verdict: Verdict | str,
        *,
        by: str = "",
        note: str = "",
        id: str | None = None,
        version: int | None = None,
        receipt_id: str | None = None,
        accept_duplicate: bool = False,
        within: timedelta | None = None,
    ) -> Ruling:
        """Decide an action: `target` is a step id, or `{step id}/{action name}`.

        Answers at once with what is done, or why nothing is. Raises NoSuchStep. Without a worker
        the answer waits for one, and DecisionPending is raised after `within`; the decision has an
        id, so it counts once however often it is sent, also by the signal `decide`. Raises
        CannotConnect, which names that id, where the server does not answer.
        """
        said = {
            "verdict": verdict,
            "by": by,
            "note": note,
            "id": id or f"decision-{uuid4()}",
            "version": version,
            "receipt_id": receipt_id,
            "accept_duplicate": accept_duplicate,
        }
        try:
            decision = Decision.model_validate(said)
        except ValidationError as error:
            raise InvalidArguments(f"not a decision: {describe_validation(error)}") from None
        with told_as(
            self.client,
            f"Whether the decision has arrived is not known. Send it again with "
            f"id={decision.id!r}: it is taken once",
        ):
            until = None if within is None else time.monotonic() + within.total_seconds()
            return await self._decide(target, decision, until)

    async def _decide(self, target: str, decision: Decision, until: float | None) -> Ruling:
        step_id, action = await self._target(target)
        given = decision.model_copy(update={"action": action})
        try:
            return await answer_to(self.client, step_id, given, until)
        except WorkflowUpdateFailedError as error:
            raise SurestepError(str(error.cause)) from error
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            outcome = await self.recall(step_id)
            if outcome is None:
                raise NoSuchStep(f"there is no step {step_id!r}") from error
            why = f"too late: the step is already settled as {outcome.state}"
            return Ruling(taken=False, why=why, version=0, state=outcome.state.value)

    async def notice(
        self, step_id: str, key: str, *, happened: bool = True, id: str | None = None, why: str = ""
    ) -> None:
        """Pass on what the service said by itself, for instance from a webhook's handler."""
        message = {"key": key, "happened": happened, "id": id, "why": why}
        await self.client.get_workflow_handle(step_id).signal(NOTICE, message)

    async def unresolved(self, *, limit: int = 1000) -> list[StepSummary]:
        """Steps, and watches of ended steps, that wait for a human; oldest first."""
        found: list[StepSummary] = []
        async for run in self.client.list_workflows(visibility.WAITING, limit=limit):
            one = summarise(run.id, run.start_time, run.typed_search_attributes)
            if run.workflow_type == WATCH_WORKFLOW:
                watched = {"step_id": watched_step(run.id), "watch_id": run.id}
                one = one.model_copy(update=watched)
            found.append(one)
        return sorted(found, key=lambda one: one.unknown_since or one.started)

    async def acknowledge(self, watch_id: str) -> None:
        """Take note of an effect that landed late; ends the watch `StepSummary.watch_id`."""
        await self.client.get_workflow_handle(watch_id).signal(ACKNOWLEDGE)

    async def steps(self, query: str = "", *, limit: int = 1000) -> list[StepSummary]:
        """Steps by a visibility query, newest first."""
        wanted = f"WorkflowType = '{STEP_WORKFLOW}'" + (f" AND ({query})" if query else "")
        return [
            summarise(run.id, run.start_time, run.typed_search_attributes)
            async for run in self.client.list_workflows(wanted, limit=limit)
        ]

    async def _submit(self, step_id: str, step: StepInput, until: float | None) -> None:
        """Start or attach. Outages are sat out `until` then, which is CannotConnect."""

        entrance = Entrance(self.client, self.task_queue)
        outage = Outage(self.client, f"Step {step_id} is submitted until it does")
        with told_as(
            self.client,
            f"Whether step {step_id!r} was started is not known. Submit the same step again: "
            "if it was, you are attached to it",
        ):
            await outage.sit_out(lambda: entrance.enter(step_id, step), until)

    async def _target(self, target: str) -> tuple[str, str | None]:
        """A step id may hold slashes itself, so what exists decides."""
        if await self.handle(target).exists():
            return target, None
        step_id, _, action = target.rpartition("/")
        if action == "undo":
            step_id, _, undone = step_id.rpartition("/")
            action = f"{undone}/{action}"
        return (step_id, action) if step_id else (target, None)
