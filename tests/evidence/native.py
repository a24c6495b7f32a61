"""E2: six native contracts and "keys everywhere", each against every class of fault.

A cell is a kind of service, whether it honours keys, a fault, and an arm. The first request always
meets the fault, each later one with a probability of a quarter. "none" is the control.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

from .arms import Arm, Told, library_retries, oracle, plain, verify_before_retry
from .declarations import DECLARATIONS, WITH_KEYS, declared
from .executor import HORIZON, Execution
from .judgement import Judged, judge
from .kinds import BATCH, KEY_LIFE, KINDS, Kind
from .published import BUCKET, bucket_key, published
from .service import Answer, Fate, Reply, Service, Sight

LATE: Final = 90.0
TAIL: Final = (40.0, 7200.0)  # log-uniform
OUTAGE: Final = (60.0, 7200.0)  # log-uniform
AGAIN: Final = 0.25

FAULTS: Final = (
    "none", "never arrives", "lost reply", "late commit", "heavy tail", "500 before commit",
    "500 after commit", "half a batch", "redelivery", "503", "429", "outage",
)  # fmt: skip
ARMS: Final[dict[str, Arm]] = {
    "plain agent": plain,
    "library retries": library_retries,
    "verify before retry": verify_before_retry,
    "published": published,
    "oracle client": oracle,
}


@dataclass(frozen=True)
class Cell:
    """`arm` is one of ARMS, or a declaration under which Surestep runs."""

    kind: str
    keys: bool
    fault: str
    arm: str

    @property
    def surestep(self) -> bool:
        return self.arm in DECLARATIONS

    @property
    def honours(self) -> bool:
        """Whether the service honours keys."""
        return (self.keys or KINDS[self.kind].keyed) and self.arm != "key not honoured"


def cells() -> Iterator[Cell]:
    for kind in KINDS:
        for fault in FAULTS:
            if fault == "half a batch" and kind != BATCH:
                continue
            for keys in (False,) if KINDS[kind].keyed else (False, True):
                for arm in (*ARMS, *(WITH_KEYS if keys else DECLARATIONS)):
                    yield Cell(kind, keys, fault, arm)


def fate(kind: Kind, fault: str, item: int, random: Random) -> Fate:
    """What becomes of a request that meets the fault."""
    works = random.uniform(5, 300) if kind.works else 0.0
    lag = random.uniform(*kind.lags)
    success = Reply.ACCEPTED if kind.works else Reply.ANSWER
    lost = Reply.LOST if random.random() < 0.5 else success
    reply, commits = success, (works,)
    match fault:
        case "never arrives":
            reply, commits = Reply.LOST, ()
        case "lost reply":
            reply = Reply.LOST
        case "late commit":
            reply, commits = Reply.LOST, (LATE + works,)
        case "heavy tail":
            reply, commits = Reply.LOST, (log_uniform(TAIL, random) + works,)
        case "500 before commit":
            reply, commits = Reply.ERROR, ()
        case "500 after commit":
            reply = Reply.ERROR
        case "half a batch":
            reply, commits = Reply.ERROR, (0.0,) if item < random.randint(1, 2) else ()
        case "redelivery":
            reply, commits = lost, (works, works + random.uniform(0.1, 60))
        case "503" | "429":
            pause = random.uniform(1, 30) if fault == "429" else None
            return Fate(Reply.AGAIN, (), pause=pause)
        case "outage":
            reply, commits = Reply.LOST, (works,) if lost is Reply.LOST else ()
    return Fate(reply, commits, lag, works=works)


def service(cell: Cell, seed: int, item: int, *, alone: bool, quick: bool = False) -> Service:
    """`alone`: the item is sent by itself, and has fates of its own."""
    kind, story = KINDS[cell.kind], f"E2 {cell.kind} {cell.fault} {seed} {item if alone else 0}"
    outage, falls, lasts = cell.fault == "outage", False, 0.0
    if outage:
        random = Random(f"{story} outage")
        falls, lasts = random.random() < 0.5, log_uniform(OUTAGE, random)

    def drawn(number: int) -> Fate:
        random = Random(f"{story} {number}")
        again = random.random() < AGAIN
        meets = (number == 0 and falls) if outage else (number == 0 or again)
        return fate(kind, cell.fault if meets else "", item, random)

    return Service(
        drawn,
        looks=kind.looks,
        recent=kind.recent,
        remembers=KEY_LIFE if cell.honours else None,
        down=(0.0, lasts),
        falls=falls,
        quick=quick,
    )


class Batch:
    """Items that one call carries; each has its own place in the ledger."""

    def __init__(self, items: list[Service]) -> None:
        self.items = items

    def send(self, key: str, at: float) -> Answer:
        answers = [one.send(f"{key}#{number}", at) for number, one in enumerate(self.items)]
        return answers[0]

    def look(self, at: float) -> Sight:
        seen = {one.look(at) for one in self.items}
        return seen.pop() if len(seen) == 1 else Sight.PART

    def lands_at(self) -> float | None:
        landing = [at for one in self.items if (at := one.lands_at()) is not None]
        return max(landing, default=None)


def episode(cell: Cell, seed: int) -> tuple[Judged, list[Service], list[Told]]:
    """A batch is one call for every arm but Surestep, whose documentation makes each item one."""
    items = range(KINDS[cell.kind].items)
    services = [service(cell, seed, item, alone=cell.surestep) for item in items]
    if cell.surestep:
        told = [
            Execution(one, declared(cell.arm, cell.kind, cell.keys, f"{seed} {item}")).run()
            for item, one in enumerate(services)
        ]
    else:
        key = "call"
        if cell.arm == "published":
            offset = Random(f"E2 bucket {seed}").uniform(0, BUCKET)
            key = bucket_key(key, 0.0, offset)
        upstream = services[0] if len(services) == 1 else Batch(services)
        told = [ARMS[cell.arm](upstream, key, 0.0)] * len(services)
    return judge(services, told, HORIZON * 2), services, told


def log_uniform(bounds: tuple[float, float], random: Random) -> float:
    low, high = bounds
    return float(low * (high / low) ** random.random())


def broken(cell: Cell) -> str | None:
    """The hypothesis of docs/guarantees.md that does not hold in a cell."""
    if cell.fault == "redelivery" and not cell.honours:
        return "H5: one request is applied twice"
    if cell.arm == "key not honoured":
        return "H2: the key is promised, and ignored"
    if cell.arm == "Δ too small" and cell.fault in ("late commit", "heavy tail"):
        return "H3: a request commits later than Δ"
    if cell.arm == "hasty human" and (cell.fault == "heavy tail" or KINDS[cell.kind].works):
        return "H6: a human calls absent what has not landed yet"
    return None
