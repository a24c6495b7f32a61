"""One action after the run: what was intended, what Surestep says, and what the ledger says."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from surestep import Outcome, State
from surestep.testing.ledger import EffectRow, RequestRow
from tests.chaos.plan import PlannedAction

ASKED: Final = "a human is asked"
IN_DOUBT: Final = re.compile(r"attempt \d+ is ambiguous")
WRITE, LOOK = "POST", "GET"


@dataclass(frozen=True)
class Case:
    """`outcome`: how it stands, settled or not; None: nothing is known.

    `before`: the actionId that comes before it in a sequential step; `why`: how its step failed;
    `alarm`: what the step's watch says.
    """

    action_id: str
    planned: PlannedAction
    started: datetime
    outcome: Outcome | None
    settled: bool
    effects: Sequence[EffectRow]
    requests: Sequence[RequestRow]
    questions: frozenset[datetime] = frozenset()
    before: str | None = None
    why: str = ""
    alarm: str = ""

    @property
    def state(self) -> State | None:
        return self.outcome.state if self.outcome and self.settled else None

    @property
    def asked(self) -> list[datetime]:
        """Every time at which a human was asked; from the record, and from who was asked."""
        return sorted({*self._times_asked(), *self.questions})

    def _times_asked(self) -> Iterator[datetime]:
        for line in self.outcome.evidence if self.outcome else ():
            if ASKED in line.text:
                yield line.at

    @property
    def in_doubt(self) -> int:
        """Attempts that may have left and were not heard of."""
        lines = self.outcome.evidence if self.outcome else ()
        return sum(line.count for line in lines if IN_DOUBT.search(line.text))

    @property
    def writes(self) -> list[RequestRow]:
        """The requests that were to have the effect."""
        return [
            one for one in self.requests if one.method == WRITE and one.path.endswith("/effects")
        ]

    @property
    def looks(self) -> list[RequestRow]:
        return [one for one in self.requests if one.method == LOOK]

    @property
    def fences(self) -> list[RequestRow]:
        return [one for one in self.requests if one.path.endswith("/fences")]

    @property
    def met(self) -> set[str]:
        """The faults that its requests met, without their numbers."""
        faults = ((one.method, one.fault) for one in self.requests if one.fault)
        return {
            f"{'look' if method == LOOK else 'write'} {fault.partition(':')[0]}"
            for method, fault in faults
        }
