"""E4: a key has a life, and the answer comes after it.

Every reply is lost, so that even under the key nobody learns the truth, and a human is asked. He
answers after a while that is shorter or longer than the key's life; or the service is away for
longer. What services do with a key that they have forgotten differs: some take it for a new one,
some refuse it.

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
OUTAGE: Final = "outage of 30 h"
ENDS: Final = 30 * HOUR
ANSWERS: Final = {
    "1 h": HOUR,
    "23 h": 23 * HOUR,
    "25 h": 25 * HOUR,
    "7 d": 7 * LIFE,
    OUTAGE: 31 * HOUR,
}
"""Times from the question to the human's answer, give or take a tenth of an hour."""

HUMANS: Final[dict[str, Human]] = {"knows": knowing, "presses retry": presses_retry}
TRUTHS: Final = ("applied", "never arrived")
OLD_KEYS: Final = ("taken for new", "refused")
LOOKUPS: Final = ("lookup", "no lookup")
SAME: Final = "resume, same key"
PERSISTENT: Final = "hourly retries, same key"
SURESTEP: Final = "Surestep"
ARMS: Final = (SAME, "resume, published", SURESTEP)


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
        return self.arm == SURESTEP


def cells() -> Iterator[Cell]:
    for lookup in LOOKUPS:
        for old_key in OLD_KEYS:
            for truth in TRUTHS:
                for human in HUMANS:
                    for answers in ANSWERS:
                        if answers == OUTAGE and (human, truth) != ("knows", "applied"):
                            continue
                        for arm in (PERSISTENT, SURESTEP) if answers == OUTAGE else ARMS:
                            yield Cell(lookup, old_key, truth, human, answers, arm)


def service(cell: Cell, seed: int, *, quick: bool = False) -> Service:
    """Until the human answers, all replies are lost, and the lookup, if there is one, is down.

    In an outage the first reply is lost, and then nothing can be reached for 30 hours.
    """
    answers, outage = answered_at(cell, seed), cell.answers == OUTAGE

    def fate(number: int) -> Fate:
        lost = number == 0 if outage else one.requests[-1] < answers
        applied = (0.0,) if cell.truth == "applied" else ()
        return Fate(Reply.LOST, applied) if lost else Fate()

    one = Service(
        fate,
        looks=cell.lookup == "lookup",
        remembers=LIFE,
        refuses=cell.old_key == "refused",
        down=(0.0, ENDS if outage else 0.0),
        falls=outage,
        blind_until=0.0 if outage else answers,
        quick=quick,
    )
    return one


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
    elif cell.arm == PERSISTENT:
        told = _persistent(one)
    else:
        told = _resumed(cell, one, answers, Random(f"E4 bucket {seed}").uniform(0, BUCKET))
    return judge([one], [told], HORIZON * 2), [one], [told]


def _resumed(cell: Cell, one: Service, answers: float, offset: float) -> Told:
    first = "key" if cell.arm == SAME else bucket_key("key", 0.0, offset)
    asked = one.send(first, 0.0).at
    word = HUMANS[cell.human](one, answers, 0)
    if word is Verdict.CONFIRM:
        return Told(Said.DONE, answers, asked=asked, answered=answers)
    if cell.arm == SAME:
        told = tell(one.send(first, answers))
    else:
        told = published(one, bucket_key("key", answers, offset), answers)
    return Told(told.said, told.at, asked=asked, answered=answers)


def _persistent(one: Service) -> Told:
    """An activity with a retry policy that never gives up."""
    now = 0.0
    while (told := tell(one.send("key", now))).said is Said.FAILED and now < ENDS + LIFE:
        now = told.at + HOUR
    return told


def broken(cell: Cell) -> str | None:
    wrong = cell.human == "presses retry" and cell.truth == "applied"
    if cell.surestep and wrong and cell.lookup == "no lookup":
        return "H6: a human says retry of what has happened"
    return None
