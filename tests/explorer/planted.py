"""Hypotheses dropped on purpose: the service, the transport or a human breaks a promise.

Each must be found, by the law that it breaks: that is how we know that the explorer can see.
"""

from dataclasses import dataclass, replace

from . import laws
from .search import Found, explore
from .service import LIMIT, honest
from .state import Scene

BREAKS = (laws.ONE_EFFECT, laws.ABSENT_IS_TRUE, laws.PLANNED_IS_TRUE)


@dataclass(frozen=True)
class Fault:
    """`breaks`: the laws of which one must be found broken, within `depth` departures."""

    scene: Scene
    depth: int
    breaks: tuple[str, ...] = BREAKS


LOOKUP = honest(delay=6, lag=4)
LATE = replace(LOOKUP, shows_late=True)
KEY = honest(key=200, delay=6, verify=False)
NOTHING = honest(delay=None, lag=None)

FAULTS: dict[str, Fault] = {
    "in_flight_too_small": Fault(Scene("Δ is longer than promised", replace(LOOKUP, delay=60)), 1),
    "lag_too_small": Fault(Scene("λ is longer than promised", replace(LATE, lag=60)), 1),
    "lookup_that_cannot_see": Fault(
        Scene("a lookup whose credentials cannot see", replace(LATE, lag=10**6)), 1
    ),
    "key_not_honoured": Fault(
        Scene("the key is ignored", replace(KEY, remembers=0)), 1, (laws.ONE_EFFECT,)
    ),
    "key_forgotten_early": Fault(
        Scene("the key is forgotten early", replace(KEY, remembers=LIMIT)), 2, (laws.ONE_EFFECT,)
    ),
    "redelivery_without_key": Fault(
        Scene("the transport delivers twice, no key", replace(LOOKUP, redelivers=True)),
        1,
        (laws.ONE_EFFECT,),
    ),
    "frozen_worker": Fault(
        Scene("a worker sends after its attempt has ended", replace(LOOKUP, frozen=True)), 1
    ),
    "human_wrong": Fault(
        Scene("a hasty human, nothing promised", NOTHING, human="hasty"), 2, (laws.ONE_EFFECT,)
    ),
    "human_wrong_confirms": Fault(
        Scene("a human confirms what did not happen", LOOKUP, human="mistaken"),
        2,
        (laws.CONFIRMED_IS_TRUE,),
    ),
}


def find(fault: Fault) -> Found:
    return explore(fault.scene, fault.depth)


def is_found(fault: Fault, found: Found) -> bool:
    return found.story is not None and found.story.broken in fault.breaks
