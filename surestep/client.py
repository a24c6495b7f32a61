"""Surestep for agent code: start or attach, wait, recall, decide, and see what is unresolved."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Literal, Self
from uuid import uuid4

from pydantic import ValidationError
from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionStatus,
    WorkflowUpdateFailedError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from surestep import visibility
from surestep.decision import Decision, Ruling, Verdict
from surestep.errors import (
    InvalidArguments,
    NoSuchStep,
    StepConflict,
    SurestepError,
    describe_validation,
)
from surestep.handle import StepHandle
from surestep.identity import STEP_INPUT_LIMIT, check_name, check_step_id, watched_step
from surestep.outcome import StepOutcome
from surestep.protocol import (
    ACKNOWLEDGE,
    DECIDE,
    MEMO_HASH,
    NOTICE,
    STEP_WORKFLOW,
    TASK_QUEUE,
    WATCH_WORKFLOW,
    ActionInput,
    EarlierStep,
    StepInput,
)
from surestep.summary import StepSummary, summarise
from surestep.tool import Action

CLOSED_WITHOUT_OUTCOME = (
    WorkflowExecutionStatus.FAILED,
    WorkflowExecutionStatus.TERMINATED,
    WorkflowExecutionStatus.TIMED_OUT,
    WorkflowExecutionStatus.CANCELED,
)


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
        ended from outside.
        """
        handle = await self.start(
            step_id, *actions, run=run, label=label, mode=mode, undo_on_failure=undo_on_failure
        )
        return await handle.outcome(within=within)

    async def start(
        self,
        step_id: str,
        *actions: Action,
        run: str = "",
        label: str = "",
        mode: Literal["sequential", "parallel"] = "sequential",
        undo_on_failure: bool = False,
    ) -> StepHandle:
        """Like `run`, without the wait."""
        check_step_id(step_id)
        given = {"run": run, "label": label, "mode": mode, "undo_on_failure": undo_on_failure}
        try:
            step = StepInput.model_validate({**given, "actions": _inputs(actions)})
        except ValidationError as error:
            raise InvalidArguments(describe_validation(error)) from None
        size = len(step.model_dump_json().encode())
        if size > STEP_INPUT_LIMIT:
            raise InvalidArguments(
                f"a step of {size} bytes is over the limit of {STEP_INPUT_LIMIT}: pass references "
                "to large content, or spread the actions over several steps"
            )
        try:
            await self._start(step_id, step, WorkflowIDReusePolicy.REJECT_DUPLICATE)
        except WorkflowAlreadyStartedError:
            await self._attach(step_id, step)
        return self.handle(step_id)

    def handle(self, step_id: str) -> StepHandle:
        """A handle of a step that may or may not exist; no call is made."""
        return StepHandle(self.client, step_id, self.ui_url)

    async def recall(self, step_id: str, *, within: timedelta | None = None) -> StepOutcome | None:
        """The outcome of an existing step, waited for if it is not settled; None: no such step.

        A restarted agent recalls first, and asks its model only if there is nothing to recall.
        """
        check_step_id(step_id)
        handle = self.handle(step_id)
        if await handle.exists():
            return await handle.outcome(within=within)
        return None

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
    ) -> Ruling:
        """Decide an action: `target` is a step id, or `{step id}/{action name}`.

        Answers at once with what is done, or why nothing is. Raises NoSuchStep. Without a worker
        the answer waits for one; the decision has an id, so it counts once however often it is
        sent, also by the signal `decide`.
        """
        step_id, action = await self._target(target)
        said = {
            "verdict": verdict,
            "action": action,
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
        handle = self.client.get_workflow_handle(step_id)
        try:
            given = decision.model_dump(mode="json", exclude_none=True)
            ruling: Ruling = await handle.execute_update(DECIDE, given, result_type=Ruling)
            return ruling
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
        query = f"{visibility.NEEDS_HUMAN} = true AND ExecutionStatus = 'Running'"
        found: list[StepSummary] = []
        async for run in self.client.list_workflows(query, limit=limit):
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

    async def _start(self, step_id: str, step: StepInput, reuse: WorkflowIDReusePolicy) -> None:
        await self.client.start_workflow(
            STEP_WORKFLOW,
            step,
            id=step_id,
            task_queue=self.task_queue,
            id_reuse_policy=reuse,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            memo={MEMO_HASH: step.hash},
            static_summary=_static_summary(step),
        )

    async def _attach(self, step_id: str, step: StepInput) -> None:
        """The step exists: is it the same, and has it an outcome?"""
        handle = self.handle(step_id)
        existing = await handle.describe()
        sent_nothing = await handle.sent_nothing(existing.status)
        binding = await handle.last_that_may_have_sent() if sent_nothing else existing
        if binding:
            recorded = await binding.memo_value(MEMO_HASH, default=None)
            if recorded != step.hash:
                differences = (await handle.submitted(binding.run_id)).differences(step)
                if differences:
                    raise StepConflict(step_id, differences)
        if existing.status in CLOSED_WITHOUT_OUTCOME:
            await self._start_again(step_id, step, binding)

    async def _start_again(
        self, step_id: str, step: StepInput, binding: WorkflowExecution | None
    ) -> None:
        """The new run is told of the old one: what that one sent is not known here."""
        if binding:
            since = await self.handle(step_id).began(binding)
            name = binding.status.name.lower() if binding.status else "ended"
            why = f"an earlier run of this step was {name} without an outcome"
            step = step.model_copy(update={"earlier": EarlierStep(since=since, why=why)})
        try:
            await self._start(step_id, step, WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY)
        except WorkflowAlreadyStartedError:  # somebody else was quicker with the same step
            await self._attach(step_id, step)

    async def _target(self, target: str) -> tuple[str, str | None]:
        """A step id may hold slashes itself, so what exists decides."""
        if await self.handle(target).exists():
            return target, None
        step_id, _, action = target.rpartition("/")
        if action == "undo":
            step_id, _, undone = step_id.rpartition("/")
            action = f"{undone}/{action}"
        return (step_id, action) if step_id else (target, None)


def _inputs(actions: tuple[Action, ...]) -> tuple[ActionInput, ...]:
    if not actions:
        raise InvalidArguments("a step needs an action: run(step_id, tool(…))")
    for action in actions:
        if not isinstance(action, Action):
            raise InvalidArguments(
                f"{type(action).__name__} is no action: call the tool with its arguments"
            )
        check_name(action.name)
    names = [action.name for action in actions]
    if len(set(names)) < len(names):
        raise InvalidArguments(f"two actions have one name in {names}: name them with .named('…')")
    return tuple(
        ActionInput(tool=one.tool, name=one.name, arguments=one.arguments) for one in actions
    )


def _static_summary(step: StepInput) -> str:
    tools = ", ".join(action.tool for action in step.actions)
    return (f"{tools} · {step.label}" if step.label else tools)[:200]
