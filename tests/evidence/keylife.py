"""E4: a key has a life, and the answer comes after it.

Every reply is lost, so that even under the key nobody learns the truth, and a human is asked. He
answers after a while that is shorter or longer than the key's life. What services do with a key that
they have forgotten differs: some take it for a new one, some refuse it.

Three ways to carry out his answer: send again with the same key, as a resumed run does; send again
through the published wrapper, whose key is new in a new time bucket; Surestep.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Final

from surestep.contract import Contract, Effect, KeySupport
from surestep.decision import Verdict

from .arms import Said, Told, tell
from .executor import HORIZON, Declared, Execution
from .human import Human, knowing, presses_retry
from .judgement import Judged, judge
from .published import BUCKET, bucket_key, published
from .service import Fate, Reply, Service

HOUR: Final = 3600.0
LIFE: Final = 24 * HOUR
ANSWERS: Final = {"1 h": HOUR, "23 h": 23 * HOUR, "25 h": 25 * HOUR, "7 d": 7 * LIFE}
"""Times from the first send to the human's answer, give or take a tenth of an hour."""

HUMANS: Final[dict[str, Human]] = {"knows": knowing, "presses retry": presses_retry}
TRUTHS: Final = ("applied", "never arrived")
OLD_KEYS: Final = ("taken for new", "refused")
LOOKUPS: Final = ("lookup", "no lookup")
ARMS: Final = ("resume, same key", "resume, published", "Surestep")


@dataclass(frozen=True)
class Cell:
    """`truth`: what became of what was sent before the human answered."""

    lookup: str
    old_key: str
    truth: str
    human: str
    answers: str
    arm: str

    @property
    def surestep(self) -> bool:
        return self.arm == "Surestep"


def cells() -> Iterator[Cell]:
    for lookup in LOOKUPS:
        for old_key in OLD_KEYS:
            for truth in TRUTHS:
                for human in HUMANS:
                    for answers in ANSWERS:
                        for arm in ARMS:
                            yield Cell(lookup, old_key, truth, human, answers, arm)


def service(cell: Cell, seed: int, *, quick: bool = False) -> Service:
    """Until the human answers all replies are lost, and the lookup, if there is one, is down."""
    answers = answered_at(cell, seed)

    def fate(number: int) -> Fate:
        if one.requests[-1] >= answers:
            return Fate()
        return Fate(Reply.LOST, (0.0,) if cell.truth == "applied" else ())

    one = Looks(
        fate,
        looks=cell.lookup == "lookup",
        remembers=LIFE,
        refuses=cell.old_key == "refused",
        quick=quick,
    )
    one.blind_until = answers
    return one


@dataclass
class Looks(Service):
    """A service whose lookup is down at first."""

    blind_until: float = 0.0

    def is_down(self, at: float) -> bool:
        return False

    def sight(self, at: float):  # type: ignore[no-untyped-def]
        known, self.looks = self.looks, self.looks and at >= self.blind_until
        try:
            return super().sight(at)
        finally:
            self.looks = known


def answered_at(cell: Cell, seed: int) -> float:
    jitter = Random(f"E4 {cell.answers} {seed}").uniform(-0.1, 0.1)
    return ANSWERS[cell.answers] + jitter * HOUR


def declared(cell: Cell, seed: int) -> Declared:
    contract = Contract(
        effect=Effect.IRREVERSIBLE,
        key=KeySupport(lifetime=timedelta(seconds=LIFE)),
        in_flight=timedelta(seconds=5),
        visibility_lag=timedelta(0) if cell.lookup == "lookup" else None,
        overdue_after=None,
    )
    return Declared(contract, cell.lookup == "lookup", HUMANS[cell.human], answered_at(cell, seed))


def episode(cell: Cell, seed: int) -> tuple[Judged, list[Service], list[Told]]:
    one, answers = service(cell, seed), answered_at(cell, seed)
    if cell.surestep:
        told = Execution(one, declared(cell, seed)).run()
    else:
        told = _resumed(cell, one, answers, Random(f"E4 bucket {seed}").uniform(0, BUCKET))
    return judge([one], [told], HORIZON * 2), [one], [told]


def _resumed(cell: Cell, one: Service, answers: float, offset: float) -> Told:
    first = "key" if cell.arm == ARMS[0] else bucket_key("key", 0.0, offset)
    asked = one.send(first, 0.0).at
    word = HUMANS[cell.human](one, answers, 0)
    if word is Verdict.CONFIRM:
        return Told(Said.DONE, answers, asked=asked, answered=answers)
    if cell.arm == ARMS[0]:
        told = tell(one.send(first, answers))
    else:
        told = published(one, bucket_key("key", answers, offset), answers)
    return Told(told.said, told.at, asked=asked, answered=answers)


def broken(cell: Cell) -> str | None:
    if cell.surestep and cell.human == "presses retry" and cell.lookup == "no lookup":
        if cell.truth == "applied":
            return "H6: a human says retry of what has happened"
    return None
