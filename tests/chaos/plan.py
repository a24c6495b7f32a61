"""The plan: what is started when, which faults it meets, and what is done to whom.

A pure function of seed and minutes. What the machine makes of it is not: a blow of the same plan
meets another moment of the same action.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Final, Literal

from tests.chaos.kinds import BY_TITLE, KINDS, Kind
from tests.matrix.rows import Row
from tests.matrix.tools import Style

HONEST: Final = 0.2  # of the actions meet no fault but what befalls their workers
LASTING: Final = 3  # requests meet a fault that lasts
CALM: Final = 8.0  # nothing is started in the last seconds,
LAST_BLOW: Final = 12.0  # and nobody hit
FEW: Final = 60.0  # a run that is shorter has two workers, others have three

STARTS: Final = (0.3, 0.9)  # seconds between two steps, and below, between or during blows
BLOWS: Final = (3.0, 10.0)
SERVER_BLOWS: Final = (20.0, 40.0)
OUTAGES: Final = (15.0, 40.0)
NAP: Final = (2.0, 7.0)  # shorter than the heartbeat timeout of 10 s, and than every attempt
SLEEP: Final = (11.0, 13.0)  # longer, and 3 s shorter than what Δ and the deadlines cover
DOWN: Final = (0.0, 3.0)


Mode = Literal["sequential", "parallel"]
MODES: Final[tuple[Mode, ...]] = ("sequential", "parallel")


class Blow(StrEnum):
    """What is done to a worker, to the server, or to the way to the world."""

    KILL = "kill"
    NAP = "freeze, shorter than the heartbeat timeout"
    SLEEP = "freeze, longer than the heartbeat timeout"
    DRAIN = "drain"
    SERVER_KILL = "kill the server"
    SERVER_STOP = "stop the server"
    OUTAGE = "the world refuses connections"


FREEZES: Final = (Blow.NAP, Blow.SLEEP)
SERVER: Final = (Blow.SERVER_KILL, Blow.SERVER_STOP)
DECK: Final = (Blow.KILL, Blow.NAP, Blow.SLEEP, Blow.DRAIN, Blow.KILL)


@dataclass(frozen=True)
class PlannedBlow:
    """At `at` s; a freeze, a stop or an outage takes `lasts` s. `worker`: its place."""

    at: float
    blow: Blow
    lasts: float
    worker: int | None = None

    def __str__(self) -> str:
        whom = "" if self.worker is None else f" worker {self.worker}"
        return f"{self.blow}{whom}, {self.lasts:.1f} s"


@dataclass(frozen=True)
class PlannedAction:
    name: str
    title: str
    style: Style
    writes: tuple[str, ...]
    looks: tuple[str, ...]

    @property
    def kind(self) -> Kind:
        return BY_TITLE[self.title]

    @property
    def lands(self) -> float:
        """Seconds within which each of its requests has had its effect, if it has one."""
        works = self.kind.works
        return max((Row(write).lands(works) for write in self.writes), default=works)

    def __str__(self) -> str:
        faults = [f"{kind} {', '.join(each)}" for kind, each in self._faults if each]
        return f"{self.name}: {self.style} {self.title}; {'; '.join(faults) or 'honest'}"

    @property
    def _faults(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return (("writes", self.writes), ("looks", self.looks))


@dataclass(frozen=True)
class PlannedStep:
    at: float
    step_id: str
    mode: Mode
    actions: tuple[PlannedAction, ...]

    def __str__(self) -> str:
        mode = f" {self.mode}" if len(self.actions) > 1 else ""
        return f"{self.step_id}{mode} [{'] ['.join(str(one) for one in self.actions)}]"


@dataclass(frozen=True)
class Plan:
    seed: int
    seconds: float
    workers: int
    steps: tuple[PlannedStep, ...]
    blows: tuple[PlannedBlow, ...]

    def __str__(self) -> str:
        lines = [*((one.at, str(one)) for one in self.steps)]
        lines += [(one.at, f"--- {one}") for one in self.blows]
        head = f"seed {self.seed}, {self.seconds:g} s, {self.workers} workers"
        return "\n".join([head, *(f"{at:7.2f} {text}" for at, text in sorted(lines))])


def plan(seed: int, minutes: float) -> Plan:
    # One stream for each lane, so that a change of one leaves the others as they were.
    seconds = 60 * minutes
    workers = 2 if seconds < FEW else 3
    lanes = [
        *_worker_blows(Random(f"{seed} workers"), seconds, workers),
        *_lane(Random(f"{seed} server"), seconds, SERVER_BLOWS, SERVER),
        *_lane(Random(f"{seed} world"), seconds, OUTAGES, (Blow.OUTAGE,)),
    ]
    steps = tuple(_steps(Random(f"{seed} steps"), seed, seconds))
    return Plan(seed, seconds, workers, steps, tuple(sorted(lanes, key=lambda one: one.at)))


def _steps(random: Random, seed: int, seconds: float) -> Iterator[PlannedStep]:
    actions = _actions(random)
    at, number = random.uniform(*STARTS), 0
    while at < seconds - CALM:
        mode = random.choice(MODES)
        count = random.choice((1, 1, 1, 2, 3))
        chosen = tuple(next(actions) for _ in range(count))
        named = tuple(
            PlannedAction(f"a{n}", kind.title, style, writes, looks)
            for n, (kind, style, writes, looks) in enumerate(chosen, start=1)
        )
        yield PlannedStep(round(at, 2), f"chaos/{seed}/{number}", mode, named)
        at, number = at + random.uniform(*STARTS), number + 1


Dealt = tuple[Kind, Style, tuple[str, ...], tuple[str, ...]]


def _actions(random: Random) -> Iterator[Dealt]:
    """Every kind with every fault that it bears, in an order of the seed's, again and again."""
    every = [(kind, style, row) for kind in KINDS for style in Style for row in kind.rows(style)]
    while True:
        random.shuffle(every)
        for kind, style, row in every:
            while random.random() < HONEST:
                yield random.choice(KINDS), random.choice(list(Style)), (), ()
            writes = [write for write in row.writes[:LASTING] if write != "honest"]
            # Where the tool looks before it sends, either that look or the next one is hit.
            honest = ["honest"] if kind.looks_first and row.looks and random.random() < 0.5 else []
            yield kind, style, tuple(writes), (*honest, *row.looks[:LASTING])


def _worker_blows(random: Random, seconds: float, workers: int) -> Iterator[PlannedBlow]:
    """The worker who has been left alone for longest gets the next card."""
    ready = {worker: random.uniform(*BLOWS) for worker in range(workers)}
    cards = _deal(random, DECK)
    while (at := min(ready.values())) < seconds - LAST_BLOW:
        worker, blow = min(ready, key=ready.__getitem__), next(cards)
        took = {Blow.NAP: NAP, Blow.SLEEP: SLEEP}.get(blow, DOWN)
        lasts = round(random.uniform(*took), 1)
        yield PlannedBlow(round(at, 2), blow, lasts, worker)
        ready[worker] = at + lasts + random.uniform(*BLOWS)


def _lane(
    random: Random, seconds: float, apart: tuple[float, float], blows: tuple[Blow, ...]
) -> Iterator[PlannedBlow]:
    cards = _deal(random, blows)
    at = random.uniform(*apart) / 2
    while at < seconds - LAST_BLOW:
        yield PlannedBlow(round(at, 2), next(cards), round(random.uniform(0.2, 4.0), 1))
        at += random.uniform(*apart)


def _deal(random: Random, deck: tuple[Blow, ...]) -> Iterator[Blow]:
    while True:
        yield from random.sample(deck, len(deck))
