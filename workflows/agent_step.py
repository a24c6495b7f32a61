"""AgentStep: one step of an agent. It asks what to do next, does it, and adds the evidence."""

import asyncio
from collections.abc import Sequence
from typing import Any

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.workflow import ParentClosePolicy

from surestep.decision import Ruling
from surestep.evidence import State
from surestep.facts import Anomaly
from surestep.identity import action_id, undo_id, watch_id
from surestep.outcome import StepOutcome, outcome_of
from surestep.protocol import (
    DECIDE,
    NOT_TAKEN,
    NOTICE,
    RECORDS,
    STEP_WORKFLOW,
    WATCH_WORKFLOW,
    StepInput,
    WatchInput,
)
from surestep.record import Record
from workflows.clock import Clock
from workflows.inbox import (
    Unread,
    read_decision,
    read_step,
    with_any_number_of_inputs,
)
from workflows.planning import Planning
from workflows.reception import Reception
from workflows.records import Records
from workflows.settling import Settling
from workflows.undoing import Undoing

DONE = (State.CONFIRMED, State.COMPENSATED)


@workflow.defn(name=STEP_WORKFLOW)
class AgentStep:
    """One step of an agent: its actions happen once, or a human is asked."""

    def __init__(self) -> None:
        self._clock = Clock()
        self._records = Records(self._clock)
        self._planning = Planning(self._clock)
        self._settling = Settling(self._clock, self._records, self._planning)
        self._undoing = Undoing(self._clock, self._records, self._settling)
        self._reception = Reception(self._clock, self._records)
        self._watched: dict[str, tuple[Anomaly, ...]] = {}

    @workflow.run
    @with_any_number_of_inputs
    async def run(self, given: RawValue) -> StepOutcome:
        step = read_step(given)
        self._reception.requester = step.requester
        await self._shielded(asyncio.create_task(self._perform(step)))
        await workflow.wait_condition(workflow.all_handlers_finished)
        while self._has_news():
            await self._shielded(asyncio.create_task(self._take_up(step)))
            await workflow.wait_condition(workflow.all_handlers_finished)
        untold = self._settling.heralds.take_back()
        if self._settling.renewing:
            carried = {"records": self._records.all(), "earlier": None, "untold": untold}
            workflow.continue_as_new(step.model_copy(update=carried | self._records.told))
        return StepOutcome(
            step_id=workflow.info().workflow_id,
            run=step.run,
            label=step.label,
            actions=tuple(outcome_of(record) for record in self._records.all()),
        )

    async def _perform(self, step: StepInput) -> None:
        await self._plan(step)
        attending = asyncio.create_task(self._undoing.attend())
        names = [action.name or action.tool for action in step.actions]
        if step.mode == "parallel":
            await asyncio.gather(*(self._settling.settle(name) for name in names))
        else:
            await self._one_after_the_other(names)
        failed = any(self._records[name].state not in DONE for name in names)
        if step.undo_on_failure and failed and not self._settling.renewing:
            await self._undoing.undo(list(reversed(names)))
        self._undoing.finish()
        await attending
        if not self._settling.renewing:
            await self._watch_what_ended(step)

    async def _one_after_the_other(self, names: list[str]) -> None:
        """R16: no action runs on one that is not settled, nor on one that had no effect."""
        for position, name in enumerate(names):
            await self._settling.settle(name)
            state = self._records[name].state
            if self._settling.renewing:
                return
            if state not in DONE and names[position + 1 :]:
                self._records.stop(f"{name} before it ended {state}", *names[position + 1 :])

    async def _plan(self, step: StepInput) -> None:
        """Plan what has no record yet. Records count only from the run before this one, not from
        whoever copies its input."""
        carried = bool(step.records) and workflow.info().continued_run_id is not None
        if carried:
            self._records.carry(step)
        new = [one for one in step.actions if (one.name or one.tool) not in self._records]
        plan = await self._planning.ask(
            new, carried=carried, earlier=step.earlier, undoes=step.undoes
        )
        step_id = workflow.info().workflow_id
        ids = {one.name: action_id(step_id, one.name) for one in plan.actions}
        if step.undoes:
            ids = dict.fromkeys(ids, undo_id(step.undoes.action_id))
        self._records.add(plan, ids, step.run)
        self._settling.heralds.enabled = plan.notifies
        for order in step.untold if carried else ():
            self._settling.heralds.send(order)

    def _has_news(self) -> bool:
        """Whether something was asked for, or came to light, while the step was about to end."""
        return not self._settling.renewing and bool(self._undoing.wanted() or self._unwatched())

    async def _take_up(self, step: StepInput) -> None:
        await self._undoing.on_demand(self._undoing.wanted())
        if not self._settling.renewing:
            await self._watch_what_ended(step)

    def _unwatched(self) -> tuple[Record, ...]:
        """R17: what must be watched, and is not, or with less than is known by now."""
        return tuple(
            one
            for one in self._records.all()
            if (one.watch_until or one.anomalies) and self._watched.get(one.name) != one.anomalies
        )

    async def _watch_what_ended(self, step: StepInput) -> None:
        """R17: nothing sleeps after a verdict. The watch outlives the step."""
        watched = self._unwatched()
        if not watched:
            return
        self._watched |= {one.name: one.anomalies for one in watched}
        step_id = workflow.info().workflow_id
        await workflow.start_child_workflow(
            WATCH_WORKFLOW,
            WatchInput(
                step_id=step_id,
                run=step.run,
                visible=self._records.visible,
                notifies=self._settling.heralds.enabled,
                records=watched,
            ),
            id=watch_id(step_id, workflow.uuid4().hex[:8]),
            parent_close_policy=ParentClosePolicy.ABANDON,
            static_summary=f"watches {step_id} for effects that land late",
        )

    async def _shielded(self, work: asyncio.Task[None]) -> None:
        """R14: a cancellation is evidence; it does not interrupt what may be under way."""
        while not work.done():
            try:
                await asyncio.shield(work)
            except asyncio.CancelledError:
                self._records.stop("the step was asked to cancel")
        work.result()

    @workflow.signal(name=DECIDE, description="Decide an action; one JSON object, see the details")
    @with_any_number_of_inputs
    async def decide_signal(self, decision: RawValue) -> None:
        await self._reception.decision(decision, by_signal=True)

    @workflow.update(name=DECIDE, description="Decide an action and be answered at once")
    async def decide(self, decision: Any) -> Ruling:
        ruling = await self._reception.decision(decision, by_signal=False)
        if not ruling.taken:  # the Web UI calls every update that returns successful
            told = f"{ruling.why}, such as {ruling.block}" if ruling.block else ruling.why
            raise ApplicationError(told, ruling, type=NOT_TAKEN, non_retryable=True)
        return ruling

    @decide.validator
    def _decision_is_readable(self, decision: Any) -> None:
        read = read_decision(decision)
        if isinstance(read, Unread):
            raise ApplicationError(f"not a decision: {read.why}", type="Unreadable")

    @workflow.signal(name=NOTICE, description="The service says that it happened, or failed")
    @with_any_number_of_inputs
    async def notice(self, notice: RawValue) -> None:
        await self._reception.notice(notice)

    @workflow.signal(dynamic=True, description="No signal: choose one that has a name")
    def other_signal(self, name: str, args: Sequence[RawValue]) -> None:
        self._reception.other_signal(name)

    @workflow.query(name=RECORDS, description="Everything known about the actions")
    def records(self) -> list[Record]:
        return list(self._records.all())
