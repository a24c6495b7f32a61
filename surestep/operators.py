"""What people and services do with steps: list them, decide, undo, pass on a notice."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pydantic import ValidationError
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from surestep import visibility
from surestep.answer import answer_to
from surestep.decision import Decision, Ruling, Verdict
from surestep.effect import confirmed_effect, watches
from surestep.entrance import CLOSED_WITHOUT_OUTCOME, Entrance
from surestep.errors import (
    InvalidArguments,
    NoSuchStep,
    NothingToUndo,
    describe_validation,
)
from surestep.evidence import State
from surestep.handle import StepHandle
from surestep.identity import UNDO, UNDO_SUFFIX, undo_id, watched_step
from surestep.narrative import when
from surestep.notice import Notice
from surestep.outage import told_as
from surestep.outcome import StepOutcome
from surestep.protocol import (
    ACKNOWLEDGE,
    NOTICE,
    STEP_WORKFLOW,
    TASK_QUEUE,
    TEXT_LIMIT,
    WATCH_WORKFLOW,
    ActionInput,
    EarlierStep,
    StepInput,
    Undoes,
)
from surestep.summary import StepSummary, summarise

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ORPHANED = "orphaned"


class Operator:
    """Steps as operators see them; `surestep.client.Surestep` adds what agents do."""

    def __init__(
        self, client: Client, *, task_queue: str = TASK_QUEUE, ui_url: str | None = None
    ) -> None:
        self.client = client
        self.task_queue = task_queue
        self.ui_url = ui_url

    def handle(self, step_id: str) -> StepHandle:
        """A handle of a step that may or may not exist; no call is made."""
        return StepHandle(self.client, step_id, self.ui_url)

    async def decide(
        self,
        target: str,
        verdict: Verdict | str,
        *,
        by: str = "",
        note: str = "",
        id: str | None = None,
        version: int | None = None,
        input_hash: str | None = None,
        receipt_id: str | None = None,
        until: datetime | None = None,
        accept_duplicate: bool = False,
        within: timedelta | None = None,
    ) -> Ruling:
        """Decide an action: `target` is a step id, or `{step id}/{action name}`.

        within  longest wait for the answer; None: as long as it takes
        The other parameters are the fields of `surestep.Decision`.

        Answers at once with what is done, or why nothing is. Raises NoSuchStep, and
        InvalidArguments for what is no decision. Without a worker the answer waits for one, and
        DecisionPending is raised after `within`; the decision has an id, so it counts once however
        often it is sent, also by the signal `decide`. Raises CannotConnect, which names that id,
        where the server does not answer.
        """
        given = {
            "verdict": verdict,
            "by": by,
            "note": note,
            "id": id or f"decision-{uuid4()}",
            "version": version,
            "input_hash": input_hash,
            "receipt_id": receipt_id,
            "until": until,
            "accept_duplicate": accept_duplicate,
        }
        try:
            decision = Decision.model_validate(given)
        except ValidationError as error:
            raise InvalidArguments(f"not a decision: {describe_validation(error)}") from None
        end = None if within is None else time.monotonic() + within.total_seconds()
        with told_as(
            self.client,
            "Whether the decision has arrived is not known. Send it again with "
            f"id={decision.id!r}: it is taken once",
        ):
            step_id, action = await self.target(target)
            try:
                told = decision.model_copy(update={"action": action})
                return await answer_to(self.client, step_id, told, end)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
                return await self.too_late(step_id, action)

    async def too_late(self, step_id: str, action: str | None = None) -> Ruling:
        """The answer to a decision about a step that has ended, or about one action of it.

        Raises NoSuchStep, and StepFailed where the step was ended from outside.
        """
        handle = self.handle(step_id)
        if not await handle.exists():
            raise NoSuchStep(f"there is no step {step_id!r}")
        outcome = await handle.outcome()
        one, what = outcome.worst, "the step"
        for other in outcome.actions:
            if action in (other.name, other.action_id):
                one, what = other, other.name if len(outcome.actions) > 1 else "the step"
        since = when((await handle.describe()).close_time)
        why = f"too late: {what} is already settled as {one.state} since {since} ({one.why})"
        return Ruling(taken=False, why=why, version=0, state=one.state.value)

    async def notice(
        self,
        step_id: str,
        key: str,
        *,
        happened: bool = True,
        id: str | None = None,
        why: str = "",
        sign: "Ed25519PrivateKey | None" = None,
    ) -> bool:
        """Pass on what the service said by itself, for instance from a webhook's handler.

        sign  in signed mode, the private key of one of the policy's `sources`; a notice that is
              not signed by one of them confirms nothing there, and is a reason to look

        Of an ended step, its watch is told. False: nobody listens any more.
        """
        message = Notice(key=key, happened=happened, id=id, why=why)
        if sign:
            from surestep.signature import sign_notice

            message = sign_notice(message, sign)
        if await self._signal(step_id, NOTICE, message):
            return True
        open_ = await watches(self.client, step_id)
        return any([await self._signal(one.id, NOTICE, message) for one in open_])

    async def acknowledge(self, watch_id: str) -> None:
        """Take note of an anomaly; ends the watch `StepSummary.watch_id`. Raises NoSuchStep."""
        if not await self._signal(watch_id, ACKNOWLEDGE):
            raise NoSuchStep(f"there is no open watch {watch_id!r}")

    async def undo(
        self,
        target: str,
        *,
        by: str = "",
        note: str = "",
        run: str = "",
        signed: Sequence[Decision] = (),
    ) -> Ruling | StepHandle:
        """Undo a confirmed action, `{step id}/{action name}` or the step id of an only action.

        While its step is open this is the decision `undo`, and the ruling is returned. Afterwards
        it is a step of its own under the undo's own key, and its handle is returned: undoing twice
        is undoing once. Raises NoSuchStep, and NothingToUndo for what is not confirmed.

        signed  in signed mode, the decision `undo` of the action, signed (`surestep.signature`);
                of an ended step, by two people where two must agree
        """
        step_id, name = await self.target(target)
        handle = self.handle(step_id)
        if not await handle.exists():
            raise NoSuchStep(f"there is no step {step_id!r}")
        if await handle.is_open():
            if signed:
                return await answer_to(self.client, step_id, signed[0])
            return await self.decide(target, Verdict.UNDO, by=by, note=note)
        outcome, submitted = await handle.outcome(), await handle.submitted()
        if submitted.undoes:
            raise NothingToUndo(f"{step_id} is an undo itself: what it undid is done by a new step")
        actions = {one.name or one.tool: one for one in submitted.actions}
        name = name or (next(iter(actions)) if len(actions) == 1 else None)
        if name not in actions:
            names = ", ".join(actions)
            raise InvalidArguments(f"step {step_id!r} has the actions {names}: name one")
        receipt = await confirmed_effect(self.client, outcome, name)
        earlier = await self._tried(outcome, name)
        tool, arguments = f"{actions[name].tool}{UNDO_SUFFIX}", actions[name].arguments
        undone = outcome[name].action_id
        why = f": {note}" if note else ""
        step = StepInput(
            run=run,
            label=f"undo, by {by or 'somebody who gave no name'}{why}"[:TEXT_LIMIT],
            actions=(ActionInput(tool=tool, name=UNDO, arguments=arguments),),
            undoes=Undoes(action_id=undone, receipt=receipt, decisions=tuple(signed)),
            earlier=earlier,
        )
        await Entrance(self.client, self.task_queue).enter(undo_id(undone), step)
        return self.handle(undo_id(undone))

    async def _tried(self, outcome: StepOutcome, name: str) -> EarlierStep | None:
        """An undo that its own step has tried, without success, may have left all the same (R4)."""
        if all(one.name != undo_id(name) for one in outcome.actions):
            return None
        since = (await self.handle(outcome.step_id).describe()).start_time
        return EarlierStep(since=since, why="its step has tried to undo it")

    async def unresolved(self, *, limit: int = 1000) -> list[StepSummary]:
        """Steps, and watches of ended steps, that wait for a human; oldest first."""
        found = await self._summaries(visibility.WAITING, limit)
        return sorted(found, key=lambda one: one.unknown_since or one.started)

    async def anomalies(self, *, limit: int = 1000) -> list[StepSummary]:
        """What contradicts a record, newest first: `StepSummary.anomalies` says how.

        duplicate, late, contradicted  open until they are acknowledged (`watch_id`)
        orphaned  the step was ended from outside while an action was in doubt: nobody looks any
                  more, until the same step is submitted again
        """
        wrong = f"{visibility.ANOMALY} IS NOT NULL AND ExecutionStatus = 'Running'"
        in_doubt = ", ".join(f"'{state}'" for state in (State.SENT, State.ACCEPTED, State.UNKNOWN))
        left = (
            f"WorkflowType = '{STEP_WORKFLOW}' AND {visibility.STATE} IN ({in_doubt}) AND "
            "ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed', 'Canceled')"
        )
        orphans = [
            one.model_copy(update={"anomalies": (*one.anomalies, ORPHANED)})
            for one in await self._summaries(left, limit)
        ]
        found = [*await self._summaries(wrong, limit), *await self._without_successor(orphans)]
        return sorted(found, key=lambda one: one.started, reverse=True)

    async def _without_successor(self, orphans: list[StepSummary]) -> list[StepSummary]:
        """Of ended runs, the newest of each step, and only where no run came after it."""
        newest = {one.step_id: one for one in sorted(orphans, key=lambda one: one.started)}
        return [
            one
            for step_id, one in newest.items()
            if (await self.handle(step_id).describe()).status in CLOSED_WITHOUT_OUTCOME
        ]

    async def steps(self, query: str = "", *, limit: int = 1000) -> list[StepSummary]:
        """Steps by a visibility query, newest first."""
        wanted = f"WorkflowType = '{STEP_WORKFLOW}'" + (f" AND ({query})" if query else "")
        return await self._summaries(wanted, limit)

    async def _summaries(self, query: str, limit: int) -> list[StepSummary]:
        found: list[StepSummary] = []
        async for run in self.client.list_workflows(query, limit=limit):
            more = {"task_queue": run.task_queue}
            if run.workflow_type == WATCH_WORKFLOW:
                more |= {"step_id": watched_step(run.id), "watch_id": run.id}
            one = summarise(run.id, run.start_time, run.typed_search_attributes)
            found.append(one.model_copy(update=more))
        return found

    async def _signal(self, workflow_id: str, name: str, *inputs: Any) -> bool:
        """Whether a workflow of this id was open to take the signal."""
        try:
            await self.client.get_workflow_handle(workflow_id).signal(name, args=inputs)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return False
        return True

    async def target(self, target: str) -> tuple[str, str | None]:
        """Step id and action name. A step id may hold slashes itself, so what exists decides."""
        if await self.handle(target).exists():
            return target, None
        step_id, _, action = target.rpartition("/")
        if action == UNDO:
            step_id, _, undone = step_id.rpartition("/")
            action = undo_id(undone)
        return (step_id, action) if step_id else (target, None)
