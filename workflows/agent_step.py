"""AgentStep: one step of an agent. It asks what to do next, does it, and adds the evidence."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.workflow import ParentClosePolicy

from surestep import evidence as ev
from surestep.decision import Ruling
from surestep.evidence import State
from surestep.identity import action_id, watch_id
from surestep.outcome import StepOutcome, outcome_of
from surestep.policy import Ask, Fence, Finish, Send, Verify, Wait, may_compensate, next_move
from surestep.protocol import (
    DECIDE,
    NOTICE,
    RECORDS,
    STEP_WORKFLOW,
    WATCH_WORKFLOW,
    EarlierStep,
    StepInput,
    WatchInput,
)
from surestep.record import Record
from workflows import dispatch
from workflows.clock import Clock
from workflows.inbox import (
    Unread,
    handles_any_number_of_inputs,
    read_decision,
    read_step,
    with_any_number_of_inputs,
)
from workflows.planning import Planning
from workflows.records import Records

# Far below the server's own limits, so that a step parked for months stays quick to load.
EVENTS_LIMIT = 1000

DONE = (State.CONFIRMED, State.COMPENSATED)


@workflow.defn(name=STEP_WORKFLOW)
class AgentStep:
    """One step of an agent: its actions happen once, or a human is asked."""

    def __init__(self) -> None:
        self._clock = Clock()
        self._records = Records(self._clock)
        self._planning = Planning(self._clock)
        self._was_reset = False
        self._renewing = False
        # A reset of the workflow reseeds its randomness: the one sign that replays the same way.
        workflow.register_random_seed_callback(self._on_reseed)

    @workflow.run
    @with_any_number_of_inputs
    async def run(self, given: RawValue) -> StepOutcome:
        step = read_step(given)
        await self._shielded(asyncio.create_task(self._perform(step)))
        await workflow.wait_condition(workflow.all_handlers_finished)
        if self._renewing:
            carried = {"records": self._records.all(), "earlier": None}
            workflow.continue_as_new(step.model_copy(update=carried | self._records.told))
        return StepOutcome(
            step_id=workflow.info().workflow_id,
            run=step.run,
            label=step.label,
            actions=tuple(outcome_of(record) for record in self._records.all()),
        )

    async def _perform(self, step: StepInput) -> None:
        await self._plan(step)
        names = [action.name or action.tool for action in step.actions]
        if step.mode == "parallel":
            await asyncio.gather(*(self._settle(name) for name in names))
        else:
            await self._one_after_the_other(names)
        failed = any(self._records[name].state not in DONE for name in names)
        if step.undo_on_failure and failed and not self._renewing:
            await self._undo(list(reversed(names)))
        if not self._renewing:
            await self._watch_what_ended(step)

    async def _one_after_the_other(self, names: list[str]) -> None:
        """R16: no action runs on one that is not settled, nor on one that had no effect."""
        for position, name in enumerate(names):
            await self._settle(name)
            state = self._records[name].state
            if self._renewing:
                return
            if state not in DONE and names[position + 1 :]:
                self._records.stop(f"{name} before it ended {state}", *names[position + 1 :])

    async def _settle(self, name: str) -> None:
        """The heart: ask for the next move, do it, add the evidence, repeat."""
        while not self._renewing:
            await self._tell_of_reset()
            record, now = self._records[name], self._clock.now()
            match next_move(record, now):
                case Finish(state=state, why=why):
                    if record.closed is None:
                        self._records.learn(name, ev.Closed(at=now, state=state, why=why))
                    return
                case Send(generation=generation, look_first=look_first):
                    await self._send(name, generation, look_first=look_first)
                case Verify(at=at):
                    if await self._undisturbed(name, at, "next look"):
                        await self._look(name)
                case Fence(at=at):
                    await self._fence(name)
                case Wait(until=until):
                    await self._undisturbed(name, until, "next try")
                case Ask(why=why):
                    self._records.learn(name, ev.Asked(at=now, why=why))
                    workflow.logger.warning("%s needs a human: %s", record.action_id, why)
            self._renewing = self._renewing or _too_long()

    async def _send(self, name: str, generation: int, *, look_first: bool) -> None:
        started = self._clock.now()
        self._records.learn(name, ev.Dispatched(at=started, generation=generation))
        report = await dispatch.execute(
            self._records[name],
            run_id=self._planning.run_id,
            look_first=look_first,
            room=self._records.room,
        )
        now = self._clock.now()
        if report.before:
            looked = ev.Looked(at=now, started=started, verification=report.before)
            self._records.learn(name, looked)
        latest = now + self._records[name].contract.timeout if report.lost else None
        ended = report.model_dump(exclude={"before", "receipt", "lost"})
        self._records.learn(
            name, ev.Attempted(at=now, latest=latest, receipt=report.receipt, **ended)
        )

    async def _look(self, name: str) -> None:
        started = self._clock.now()
        seen = await dispatch.verify(self._records[name], room=self._records.room)
        looked = ev.Looked(at=self._clock.now(), started=started, verification=seen)
        self._records.learn(name, looked)

    async def _fence(self, name: str) -> None:
        report = await dispatch.fence(self._records[name], room=self._records.room)
        held, exists, why = report.held, report.exists, report.why
        fenced = ev.Fenced(at=self._clock.now(), held=held, exists=exists, why=why)
        self._records.learn(name, fenced)

    async def _undisturbed(self, name: str, until: datetime | None, what: str) -> bool:
        """Wait; True if the time came, False if evidence or a renewal came first."""
        seen = self._records[name].version
        timeout = None if until is None else until - self._clock.now()
        if timeout is not None and timeout <= timedelta(0):
            return True
        try:
            await workflow.wait_condition(
                lambda: self._records[name].version != seen or self._must_look_up(),
                timeout=timeout,
                timeout_summary=f"{what}: {name}",
            )
            return False
        except TimeoutError:
            return True

    def _must_look_up(self) -> bool:
        """Whether a loop that waits has to go round although its own record has not changed."""
        return self._renewing or self._was_reset or _too_long()

    async def _undo(self, names: list[str]) -> None:
        """R15: undo what is confirmed, each by an action of its own."""
        for name in names:
            record = self._records[name]
            if record.undo is None or not may_compensate(record):
                continue
            undo = self._records.add_undo(record)
            await self._settle(undo)
            if self._renewing:
                return
            receipt = self._records[undo].confirmation
            if receipt:
                self._records.learn(name, ev.Compensated(at=self._clock.now(), receipt=receipt))

    async def _plan(self, step: StepInput) -> None:
        """Plan what has no record yet. Records count only from the run before this one, not from
        whoever copies its input."""
        carried = bool(step.records) and workflow.info().continued_run_id is not None
        if carried:
            self._records.carry(step)
        new = [one for one in step.actions if (one.name or one.tool) not in self._records]
        plan = await self._planning.ask(new, carried=carried, earlier=step.earlier)
        step_id = workflow.info().workflow_id
        ids = {one.name: action_id(step_id, one.name) for one in plan.actions}
        self._records.add(plan, ids, step.run)

    async def _watch_what_ended(self, step: StepInput) -> None:
        """R17: nothing sleeps after a verdict. The watch outlives the step."""
        watched = tuple(one for one in self._records.all() if one.watch_until and one.can_verify)
        if not watched:
            return
        step_id = workflow.info().workflow_id
        await workflow.start_child_workflow(
            WATCH_WORKFLOW,
            WatchInput(
                step_id=step_id, run=step.run, visible=self._records.visible, records=watched
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

    def _on_reseed(self, _: int) -> None:
        self._was_reset = True

    async def _tell_of_reset(self) -> None:
        """Whatever was open may have been sent by the run that was reset.

        Attempts that are handed out before this is known carry the old run's id, so that the
        activity refuses them. The plan that follows records the new one.
        """
        if self._was_reset:
            self._was_reset = False
            since = workflow.info().workflow_start_time
            self._records.may_have_been_sent(EarlierStep(since=since, why="the step was reset"))
            await self._planning.ask((), carried=True, again=True)

    @workflow.signal(name=DECIDE, description="Decide an unknown action; one JSON object")
    @handles_any_number_of_inputs
    def decide_signal(self, decision: RawValue) -> None:
        self._records.receive_decision(decision)

    @workflow.update(name=DECIDE, description="Decide an unknown action and be answered at once")
    async def decide(self, decision: Any) -> Ruling:
        await workflow.wait_condition(lambda: self._records.planned)
        ruling = self._records.receive_decision(decision)
        assert ruling is not None  # noqa: S101 - planned, so it was not put off
        return ruling

    @decide.validator
    def _decision_is_readable(self, decision: Any) -> None:
        read = read_decision(decision)
        if isinstance(read, Unread):
            raise ApplicationError(f"not a decision: {read.why}", type="Unreadable")

    @workflow.signal(name=NOTICE, description="The service says that it happened, or failed")
    @handles_any_number_of_inputs
    def notice(self, notice: RawValue) -> None:
        self._records.receive_notice(notice)

    @workflow.signal(dynamic=True)
    def other_signal(self, name: str, args: Sequence[RawValue]) -> None:
        self._records.refuse_signal(name)

    @workflow.query(name=RECORDS, description="Everything known about the actions")
    def records(self) -> list[Record]:
        return list(self._records.all())


def _too_long() -> bool:
    info = workflow.info()
    return info.is_continue_as_new_suggested() or info.get_current_history_length() > EVENTS_LIMIT
