"""E1: the published wrapper experiment, with its tasks, its fault levels and its two readings.

A cell is a task, a level, a reading, a service, an agent and an arm.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from random import Random
from typing import Final

from surestep.contract import Contract, Effect, KeySupport

from .arms import Arm, Said, Told, blind_retry, verify_only
from .executor import HORIZON, Declared, Execution
from .human import comes_after, knowing
from .judgement import Judged, judge
from .published import BUCKET, bucket_key, published
from .service import Fate, Reply, Service


@dataclass(frozen=True)
class Level:
    """Fault probabilities per call attempt, as published."""

    timeout: float
    delayed: float
    part: float
    stale: float


LEVELS: Final = {
    "low": Level(0.05, 0.05, 0.03, 0.02),
    "medium": Level(0.20, 0.15, 0.10, 0.05),
    "high": Level(0.35, 0.25, 0.15, 0.10),
}
TASKS: Final = {
    "activate_customer": ("customer and its status ACTIVE", "welcome message"),
    "record_invoice": ("row and its status RECORDED", "record"),
}
"""The two writes of each task that faults can meet; each can take effect in part."""

READINGS: Final = ("independent", "categorical")
SERVICES: Final = {"ignores keys": None, "honours keys": 24 * 3600.0}
AGENTS: Final = {"patient": 1, "stubborn": 3}
"""How often an agent calls one tool at the most, while it is told "failed"."""

PUBLISHED: Final = {
    ("activate_customer", "blind retry"): (20, 44, 72),
    ("activate_customer", "published"): (0, 16, 20),
    ("record_invoice", "blind retry"): (32, 52, 76),
    ("record_invoice", "published"): (0, 16, 20),
}
"""Episodes with duplicates by level, in per cent, of 25 each."""

SURESTEP: Final = "Surestep"
BELIEVING: Final = "Surestep, answers believed"
"""Its contract says that a success answer proves the effect, which a partial success breaks."""

ARMS: Final[dict[str, Arm | None]] = {
    "blind retry": blind_retry,
    "verify only": verify_only,
    "published": published,
    SURESTEP: None,
    BELIEVING: None,
}
LONGEST_LAG: Final = 4.0  # seconds, uniform: half of it is the back-off before a look
THINKS: Final = 5.0  # seconds between two calls of an agent


@dataclass(frozen=True)
class Cell:
    task: str
    level: str
    reading: str
    service: str
    agent: str
    arm: str


def cells() -> Iterator[Cell]:
    for task in TASKS:
        for level in LEVELS:
            for reading in READINGS:
                for service in SERVICES:
                    for agent in AGENTS:
                        for arm in ARMS:
                            yield Cell(task, level, reading, service, agent, arm)


def published_cells() -> Iterator[Cell]:
    """The cells that can be compared with what was published."""
    arms = {arm for _, arm in PUBLISHED}
    for cell in cells():
        if (cell.service, cell.agent) == ("ignores keys", "patient") and cell.arm in arms:
            yield cell


def drawn(level: Level, reading: str, random: Random) -> Fate:
    """The fate of one attempt. Delayed visibility is an answer that cannot see the effect yet;
    partial success is a success answer."""
    if reading == "independent":
        timeout, delayed, part, stale = (random.random() < p for p in asdict(level).values())
    else:
        point, hits = random.random(), []
        for p in asdict(level).values():
            hits.append(0 <= point < p)
            point -= p
        timeout, delayed, part, stale = hits
    lag = random.uniform(0, LONGEST_LAG)
    reply = Reply.ANSWER
    if timeout:
        reply = Reply.LOST
    elif stale:
        reply = Reply.AGAIN
    elif delayed:
        reply = Reply.ERROR
    return Fate(reply, () if stale else (0.0,), lag if delayed else 0.0, part)


def contract(cell: Cell) -> Contract:
    """Everything is applied at once or never, and shows after four seconds at the most."""
    life = SERVICES[cell.service]
    return Contract(
        effect=Effect.IRREVERSIBLE,
        key=KeySupport(lifetime=timedelta(seconds=life)) if life else None,
        in_flight=timedelta(seconds=1),
        visibility_lag=timedelta(seconds=LONGEST_LAG),
        response_proves=cell.arm == BELIEVING,  # a success can be a partial one
        overdue_after=None,
    )


def service(cell: Cell, seed: int, write: int, *, quick: bool = False) -> Service:
    level, story = LEVELS[cell.level], f"E1 {cell.task} {cell.level} {cell.reading} {seed} {write}"

    def fate(number: int) -> Fate:
        return drawn(level, cell.reading, Random(f"{story} {number}"))

    return Service(fate, remembers=SERVICES[cell.service], quick=quick)


def declared(cell: Cell, seed: int, write: int) -> Declared:
    return Declared(contract(cell), True, knowing, comes_after(f"E1 {seed} {write}"))


def episode(cell: Cell, seed: int) -> tuple[Judged, list[Service], list[Told]]:
    """Both writes are made, whatever became of the first, as one agent would report on both."""
    services = [service(cell, seed, write) for write in range(2)]
    offset, now, told = Random(f"E1 bucket {seed}").uniform(0, BUCKET), 0.0, list[Told]()
    for write, one in enumerate(services):
        told.append(_call(cell, one, declared(cell, seed, write), now, offset, write))
        now = told[-1].at + THINKS
    return judge(services, told, HORIZON * 2), services, told


def _call(cell: Cell, one: Service, known: Declared, now: float, offset: float, write: int) -> Told:
    arm = ARMS[cell.arm]
    if arm is None:
        # A second call of the same step attaches, and is told the same.
        return Execution(one, known, now).run()
    for call in range(AGENTS[cell.agent]):
        key = f"{write}/call-{call}"  # a model's call id is new with every call
        if cell.arm == "published":
            key = bucket_key(str(write), now, offset)
        told = arm(one, key, now)
        if told.said is Said.DONE:
            break
        now = told.at + THINKS
    return told


def is_surestep(cell: Cell) -> bool:
    return ARMS[cell.arm] is None


def broken(cell: Cell) -> str | None:
    return "a success answer does not prove the effect" if cell.arm == BELIEVING else None
