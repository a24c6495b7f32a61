"""LateWatch: ended actions are looked at until nothing can contradict their verdict (R17)."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RawValue

from surestep import evidence as ev
from surestep.identity import ACTIONS_LIMIT, RESULTS_LIMIT
from surestep.policy import next_watch
from surestep.protocol import ACKNOWLEDGE, RECORDS, WATCH_WORKFLOW
from surestep.record import Record
from workflows import dispatch
from workflows.board import Board
from workflows.inbox import (
    handles_any_number_of_inputs,
    read_watch,
    with_any_number_of_inputs,
)


@workflow.defn(name=WATCH_WORKFLOW)
class LateWatch:
    """Looks until the horizon. An effect that lands late stays open until it is acknowledged."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._board: Board | None = None
        self._acknowledged = False

    @workflow.run
    @with_any_number_of_inputs
    async def run(self, given: RawValue) -> list[Record]:
        watch = read_watch(given)
        self._records = list(watch.records)
        self._board = Board(visible=watch.visible, run=watch.run)
        await asyncio.gather(*(self._watch(position) for position in range(len(self._records))))
        if any(record.anomalies for record in self._records):
            workflow.logger.warning("%s: an effect landed late", watch.step_id)
            await workflow.wait_condition(lambda: self._acknowledged)
        return self._records

    async def _watch(self, position: int) -> None:
        while not self._records[position].anomalies:
            move = next_watch(self._records[position], workflow.now())
            if move is None:
                return
            pause = move.at - workflow.now()
            if pause > timedelta(0):
                action = self._records[position].action_id
                await workflow.sleep(pause, summary=f"next look: {action}")
            await self._look(position)

    async def _look(self, position: int) -> None:
        started = workflow.now()
        seen = await dispatch.verify(self._records[position], room=RESULTS_LIMIT // ACTIONS_LIMIT)
        looked = ev.Looked(at=workflow.now(), started=started, verification=seen)
        self._records[position] = self._records[position].with_evidence(looked)
        if self._board:
            self._board.show(self._records, [], workflow.now())

    @workflow.signal(name=ACKNOWLEDGE, description="A human has taken note of the anomaly")
    @handles_any_number_of_inputs
    def acknowledge(self, _: RawValue) -> None:
        # Before there is anything to take note of, it says nothing.
        self._acknowledged = any(record.anomalies for record in self._records)

    @workflow.signal(dynamic=True)
    def other_signal(self, name: str, args: Sequence[RawValue]) -> None:
        workflow.logger.warning("there is no signal %s; there is acknowledge", name)

    @workflow.query(name=RECORDS)
    def records(self) -> list[Record]:
        return list(self._records)
