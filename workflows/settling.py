"""Settling one action: ask for the next move, do it, add the evidence, repeat."""

import asyncio
from collections import defaultdict
from datetime import datetime, timedelta

from temporalio import workflow

from surestep import evidence as ev
from surestep.notification.told import Told
from surestep.policy import Ask, Escalate, Fence, Finish, Lapse, Send, Verify, Wait, next_move
from surestep.protocol import EarlierStep
from surestep.questions import NotifyOrder, Occasion
from surestep.record import Record
from workflows import dispatch
from workflows.clock import Clock
from workflows.heralds import Heralds
from workflows.planning import Planning
from workflows.records import Records

# Far below the server's own limits, so that a step parked for months stays quick to load.
EVENTS_LIMIT = 1000


class Settling:
    """Brings actions to their end. `renewing`: the history has grown long, and every loop stops."""

    def __init__(self, clock: Clock, records: Records, planning: Planning) -> None:
        self._clock = clock
        self._records = records
        self._planning = planning
        self.heralds = Heralds(self._told)
        self.renewing = False
        self._was_reset = False
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        # A reset of the workflow reseeds its randomness: the one sign that replays the same way.
        workflow.register_random_seed_callback(self._on_reseed)

    def _on_reseed(self, _: int) -> None:
        self._was_reset = True

    async def settle(self, name: str) -> None:
        """Until the action has ended, or the step renews its history. One loop per action."""
        async with self._turns[name]:
            while not self.renewing:
                await self._tell_of_reset()
                # What was said before a timer fired counts, although it is still being examined.
                await workflow.wait_condition(lambda: not self._records.in_hand)
                if await self._one_move(name):
                    return
                self.renewing = self.renewing or too_long()

    async def _one_move(self, name: str) -> bool:
        """Do the next move; True once there is none."""
        record, now = self._records[name], self._clock.now()
        match next_move(record, now):
            case Finish(state=state, why=why):
                if record.closed is None:
                    self._records.learn(name, ev.Closed(at=now, state=state, why=why))
                return True
            case Send(generation=generation, look_first=look_first):
                await self._send(name, generation, look_first=look_first)
            case Verify(at=at):
                if await self._undisturbed(name, at, "next look"):
                    await self._look(name)
            case Fence():
                await self._fence(name)
            case Wait(until=until):
                await self._undisturbed(name, until, "waiting")
            case Ask(why=why):
                self._records.learn(name, ev.Asked(at=now, why=why))
                self.heralds.tell(self._records[name], Occasion.QUESTION)
            case Escalate():
                self._records.learn(name, ev.Escalated(at=now))
                self.heralds.tell(self._records[name], Occasion.OVERDUE)
            case Lapse():
                self._records.learn(name, ev.Lapsed(at=now))
        return False

    def _told(self, order: NotifyOrder, told: Told) -> None:
        """Who has been told stands in the record, unless the question is another one by now."""
        told_of_this = self._records[order.action].asked == order.since
        names = told.told if told_of_this else ()
        notified = ev.Notified(at=self._clock.now(), told=names, why=told.words)
        self._records.learn(order.action, notified)

    async def _send(self, name: str, generation: int, *, look_first: bool) -> None:
        started = self._clock.now()
        self._records.learn(name, ev.Dispatched(at=started, generation=generation))
        report = await dispatch.execute(
            self._records[name],
            now=started,
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
        seen = _stirring(self._records[name])
        timeout = None if until is None else until - self._clock.now()
        if timeout is not None and timeout <= timedelta(0):
            return True
        try:
            await workflow.wait_condition(
                lambda: _stirring(self._records[name]) != seen or self._must_look_up(),
                timeout=timeout,
                timeout_summary=f"{what}: {name}",
            )
            return False
        except TimeoutError:
            return True

    def _must_look_up(self) -> bool:
        """Whether a loop that waits has to go round although its own record has not changed."""
        return self.renewing or self._was_reset or too_long()

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


def _stirring(record: Record) -> tuple[object, ...]:
    """What ends a wait: news, and what is none to people and may change the next move."""
    return record.version, record.stop, record.hinted


def too_long() -> bool:
    """Whether the run should end and a new one go on, with what is known."""
    info = workflow.info()
    return info.is_continue_as_new_suggested() or info.get_current_history_length() > EVENTS_LIMIT
