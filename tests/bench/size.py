"""How much a run does: tiny for the suite, small under five minutes, full for the page."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Size:
    """Numbers of rounds, actions and seconds.

    patience seconds: no further round of the rows begins after them
    rounds   in which every row is measured once, one after the other
    pairs    further rounds of the floor and the keyed tool only, whose ratio is a target
    slice    seconds that one row should take in one round, from the rate that is usual
    most     in flight
    growth   actions before and after; window: actions between two readings
    grows_for  seconds of growing; what is reached by then is what the row says
    parked   unknown actions at once, as many as come in `parks_for` seconds
    quiet    seconds in which nothing happens to them
    due      looks that are due at once
    wide     actions in one step
    evidence on one action
    """

    name: str
    patience: float
    rounds: int
    pairs: int
    slice: float
    flights: tuple[int, ...]
    growth: tuple[int, int]
    grows_for: float
    window: int
    aged_rounds: int
    parked: int
    parks_for: float
    quiet: float
    due: int
    wide: tuple[int, ...]
    evidence: int
    durable: int
    embedded_rounds: int
    embedded_run_in: int
    embedded_actions: int
    peer_rounds: int
    peer_actions: int


TINY: Final = Size(
    name="tiny",
    patience=10.0,
    rounds=1,
    pairs=0,
    slice=0.05,
    flights=(1, 4),
    growth=(8, 16),
    grows_for=20.0,
    window=8,
    aged_rounds=1,
    parked=4,
    parks_for=20.0,
    quiet=0.2,
    due=4,
    wide=(1, 3),
    evidence=4,
    durable=3,
    embedded_rounds=1,
    embedded_run_in=1,
    embedded_actions=2,
    peer_rounds=1,
    peer_actions=4,
)
SMALL: Final = Size(
    name="small",
    patience=45.0,
    rounds=1,
    pairs=4,
    slice=1.0,
    flights=(1, 16, 64),
    growth=(200, 1_000),
    grows_for=30.0,
    window=100,
    aged_rounds=2,
    parked=500,
    parks_for=15.0,
    quiet=10.0,
    due=100,
    wide=(1, 10, 100),
    evidence=100,
    durable=30,
    embedded_rounds=2,
    embedded_run_in=18,
    embedded_actions=15,
    peer_rounds=1,
    peer_actions=24,
)
FULL: Final = Size(
    name="full",
    patience=400.0,
    rounds=3,
    pairs=6,
    slice=1.6,
    flights=(1, 16, 64),
    growth=(1_000, 50_000),
    grows_for=1_800.0,
    window=300,
    aged_rounds=5,
    parked=10_000,
    parks_for=450.0,
    quiet=40.0,
    due=1_000,
    wide=(1, 2, 5, 10, 30, 100),
    evidence=1_000,
    durable=100,
    embedded_rounds=4,
    embedded_run_in=25,
    embedded_actions=30,
    peer_rounds=3,
    peer_actions=64,
)
SIZES: Final = {size.name: size for size in (TINY, SMALL, FULL)}
