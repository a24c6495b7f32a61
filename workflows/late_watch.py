"""LateWatch: ended actions are looked at until nothing can contradict their verdict (R17)."""

import asyncio
from collections.abc import Sequence

from temporalio import workflow
from temporalio.common import RawValue

from surestep import evidence as ev
from surestep.evidence import Evidence
from surestep.identity import ACTIONS_LIMIT, RESULTS_LIMIT
from surestep.notification.told import Told
from surestep.policy import next_watch
from surestep.protocol import ACKNOWLEDGE, NOTICE, RECORDS, WATCH_WORKFLOW, WatchInput
from surestep.questions import NotifyOrder, Occasion
from surestep.record import Record
from workflows import dispatch
from workflows.board import Board
from workflows.chronicle import Chronicle
from workflows.clock import Clock
from workflows.heralds import Heralds
from workflows.inbox import Unread, read_notice, read_watch, with_any_number_of_inputs
from workflows.notices import Said, heard, meant_by
from workflows.settling import too_long

NOTES_LIMIT = 20


@workflow.defn(name=WATCH_WORKFLOW)
class LateWatch:
    """Looks, and listens to notices, until the horizon.

    An anomaly, and so an effect that lands late, stays open until a human has acknowledged it.
    """

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._notes: list[str] = []
        self._clock = Clock()
        self._turn = asyncio.Lock()
        self._said = Said()
        self._chronicle = Chronicle()
        self._heralds = Heralds(self._told)
        self._watch: WatchInput | None = None
        self._board: Board | None = None
        self._acknowledged = False
        self._renewing = False

    @workflow.run
    @with_any_number_of_inputs
    async def run(self, given: RawValue) -> list[Record]:
        watch = read_watch(given)
        self._watch, self._records = watch, list(watch.records)
        self._chronicle.run = watch.run
        renewed = workflow.info().continued_run_id is not None
        self._acknowledged = renewed and watch.acknowledged
        self._board = Board(visible=watch.visible, run=watch.run, renewed=renewed)
        self._heralds.enabled = watch.notifies
        if renewed:
            for order in watch.untold:
                self._heralds.send(order)
        else:
            for record in self._records:
                self._tell(record)
        self._show()
        await asyncio.gather(*(self._watched(position) for position in range(len(self._records))))
        await workflow.wait_condition(workflow.all_handlers_finished)
        while self._waits_to_be_acknowledged():
            await workflow.wait_condition(lambda: self._acknowledged or too_long())
            self._renewing = not self._acknowledged
            await workflow.wait_condition(workflow.all_handlers_finished)
        if self._renewing:
            carried = {"acknowledged": self._acknowledged, "untold": self._heralds.take_back()}
            carried["records"] = tuple(self._records)
            workflow.continue_as_new(watch.model_copy(update=carried))
        return self._records

    def _waits_to_be_acknowledged(self) -> bool:
        wrong = any(record.anomalies for record in self._records)
        return wrong and not self._acknowledged and not self._renewing

    async def _watched(self, position: int) -> None:
        """Until the horizon, or until there is something to tell."""
        while not self._records[position].anomalies:
            if too_long():  # a service may repeat its notices for as long as the watch is open
                self._renewing = True
                return
            record, now = self._records[position], self._clock.now()
            look = next_watch(record, now)
            until = look.at if look else record.watch_until
            if until is None or (look is None and until <= now):
                return
            if until > now:
                summary = f"{'next look' if look else 'end of the watch'}: {record.action_id}"
                try:
                    await workflow.wait_condition(
                        lambda seen=record: self._records[position] is not seen or too_long(),  # type: ignore[misc]
                        timeout=until - now,
                        timeout_summary=summary,
                    )
                    continue
                except TimeoutError:
                    pass
            if look:
                await self._look(position)

    async def _look(self, position: int) -> None:
        started = self._clock.now()
        seen = await dispatch.verify(self._records[position], room=RESULTS_LIMIT // ACTIONS_LIMIT)
        looked = ev.Looked(at=self._clock.now(), started=started, verification=seen)
        self._learn(position, looked)

    def _learn(self, position: int, evidence: Evidence) -> None:
        before = self._records[position]
        after = self._records[position] = before.with_evidence(evidence)
        self._chronicle.learned(before, after, evidence)
        if len(after.anomalies) > len(before.anomalies):
            if not before.anomalies or self._acknowledged:
                self._tell(after)
            self._acknowledged = False  # of this, nobody has taken note
        self._show()

    def _tell(self, record: Record) -> None:
        if record.anomalies and self._watch:
            self._heralds.tell(record, Occasion.ANOMALY, self._watch.step_id)

    def _told(self, order: NotifyOrder, told: Told) -> None:
        for position, record in enumerate(self._records):
            if record.name == order.action:
                notified = ev.Notified(at=self._clock.now(), told=told.told, why=told.words)
                self._records[position] = record.with_evidence(notified)
        self._show()

    def _show(self) -> None:
        if self._board:
            self._board.show(self._records, self._notes, self._clock.now())

    @workflow.signal(name=NOTICE, description="The service says that it happened, or failed")
    @with_any_number_of_inputs
    async def notice(self, given: RawValue) -> None:
        await workflow.wait_condition(lambda: self._board is not None)
        read = read_notice(given)
        if isinstance(read, Unread):
            self._note(read.why)
            return
        async with self._turn:
            record = meant_by(read, self._records)
            if record is None:
                self._note(
                    f"a notice with the key {read.key[:80]!r}, which is none of those watched"
                )
                return
            if self._said.holds(record, read):
                return
            evidence = await heard(read, record, self._clock)
            position = [one.name for one in self._records].index(record.name)
            before = self._records[position]
            self._learn(position, evidence)
            self._said.add(before, read, self._records[position])

    @workflow.signal(name=ACKNOWLEDGE, description="A human has taken note of the anomaly")
    @with_any_number_of_inputs
    async def acknowledge(self, _: RawValue) -> None:
        # Before there is anything to take note of, it says nothing.
        self._acknowledged = any(record.anomalies for record in self._records)

    @workflow.signal(dynamic=True, description="No signal: choose one that has a name")
    def other_signal(self, name: str, args: Sequence[RawValue]) -> None:
        self._note(f"there is no signal {name[:80]!r}; there are acknowledge and notice")

    def _note(self, why: str) -> None:
        self._notes = [*self._notes, why][-NOTES_LIMIT:]
        self._chronicle.refused()
        self._show()

    @workflow.query(name=RECORDS)
    def records(self) -> list[Record]:
        return list(self._records)
