"""Undoing confirmed actions: because the step failed, or because a human wants it (R15)."""

from collections.abc import Sequence

from temporalio import workflow

from surestep import evidence as ev
from surestep.evidence import State
from surestep.identity import undo_id
from surestep.policy import may_compensate
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

    async def attend(self) -> None:
        """Undo what people want undone, while the other actions of the step go on."""
        while True:
            await workflow.wait_condition(
                lambda: bool(self._wanted()) or self._finishing or self._settling.renewing
            )
            wanted = self._wanted()
            if self._settling.renewing or not wanted:
                return
            await self.undo(wanted)

    def finish(self) -> None:
        """Nothing more is waited for; what is wanted already is still undone."""
        self._finishing = True

    def _wanted(self) -> list[str]:
        return [
            one.name for one in self._records.all() if one.undo_asked and self._is_open(one.name)
        ]

    def _is_open(self, name: str) -> bool:
        undo = undo_id(name)
        if undo in self._records and self._records[undo].closed:
            return False
        return self._records[name].state is State.CONFIRMED
