"""Undoing confirmed actions: because the step failed, or because a human wants it (R15)."""

import asyncio
from collections.abc import Sequence

from temporalio import workflow

from surestep import evidence as ev
from surestep.consent import said_until
from surestep.evidence import State
from surestep.identity import undo_id
from surestep.policy import may_compensate
from surestep.record import Record
from workflows.clock import Clock
from workflows.records import Records
from workflows.settling import Settling


class Undoing:
    """Undoes actions, each by an action of its own under the same rules."""

    def __init__(self, clock: Clock, records: Records, settling: Settling) -> None:
        self._clock = clock
        self._records = records
        self._settling = settling
        self._finishing = False

    async def undo(self, names: Sequence[str]) -> None:
        """Undo what is confirmed of these; what is not is left alone."""
        for name in names:
            record = self._records[name]
            if record.undo is None or not may_compensate(record):
                continue
            undo = self._records.add_undo(record)
            await self._settling.settle(undo)
            if self._settling.renewing:
                return
            receipt = self._records[undo].confirmation
            if receipt and self._records[name].state is State.CONFIRMED:
                self._records.learn(name, ev.Compensated(at=self._clock.now(), receipt=receipt))

    async def on_demand(self, names: Sequence[str]) -> None:
        """Undo what people want undone, as far as they still want it."""
        for name in names:
            until = said_until(self._records[name])
            if until and until <= self._clock.now() and undo_id(name) not in self._records:
                self._records.learn(name, ev.Lapsed(at=self._clock.now()))
            else:
                await self.undo([name])

    async def attend(self) -> None:
        """Undo what people want undone, while the other actions of the step go on.

        None waits for another: an undo that is in doubt can take a human days.
        """
        begun: dict[str, asyncio.Task[None]] = {}

        def fresh() -> list[str]:
            return [one for one in self.wanted() if one not in begun or begun[one].done()]

        while not self._settling.renewing:
            await workflow.wait_condition(
                lambda: bool(fresh()) or self._finishing or self._settling.renewing
            )
            if not (names := fresh()):
                break
            begun |= {name: asyncio.create_task(self.on_demand([name])) for name in names}
        await asyncio.gather(*begun.values())

    def finish(self) -> None:
        """Nothing more is waited for; what is wanted already is still undone."""
        self._finishing = True

    def wanted(self) -> list[str]:
        """What people want undone and is not. What is still under way cannot be undone yet."""
        return [
            one.name
            for one in self._records.all()
            if one.undo_asked and one.undo and one.closed and may_compensate(one)
            if not self._was_tried(one)
        ]

    def _was_tried(self, record: Record) -> bool:
        undo = undo_id(record.name)
        return undo in self._records and self._records[undo].closed is not None
