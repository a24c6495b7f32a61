"""What is explored: services that keep their promises, and the people around them.

`grid()` varies the lifetime of a key, Δ, λ and what the service can do against each other, with
nobody interfering; `crews()` lets people, resets and outages interfere at every point.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from .service import LIMIT, Service, honest
from .state import Scene

LONG = 300

DELAYS: tuple[int | None, ...] = (0, 6, 40, None)
LOOKUPS: dict[str, dict[str, int | bool | None]] = {
    "blind": {"verify": False},
    "λ 0": {"lag": 0},
    "λ 4": {"lag": 4},
    "λ 30, shown late": {"lag": 30, "shows_late": True},
    "λ not promised": {"lag": None},
}


def scenes() -> list[Scene]:
    every = [*grid(), *crews(), *risky()]
    assert len({scene.name for scene in every}) == len(every)
    return every


def grid() -> Iterator[Scene]:
    for delay, (lookup, looks) in product(DELAYS, LOOKUPS.items()):
        for name, key in _lifetimes(delay).items():
            said = "not promised" if delay is None else delay
            title = f"{name}, Δ {said}, {lookup}"
            yield Scene(title, honest(key=key, delay=delay, **looks))
    for name, service in SERVICES.items():
        yield Scene(name, service)


def _lifetimes(delay: int | None) -> dict[str, int | None]:
    """Barely long enough for one attempt, or for a second one after a quick or a slow first."""
    if delay is None:  # half of the lifetime stands in for Δ
        return {
            "no key": None,
            "key barely alive": 2 * LIMIT + 2,
            "key for a quick retry": 2 * LIMIT + 6,
            "key for a slow retry": 4 * LIMIT + 4,
            "key for long": LONG,
        }
    return {
        "no key": None,
        "key barely alive": LIMIT + delay + 1,
        "key for a quick retry": LIMIT + delay + 3,
        "key for a slow retry": 2 * LIMIT + delay + 3,
        "key for long": LONG,
    }


SERVICES: dict[str, Service] = {
    "two misses wanted": honest(delay=6, lag=4, misses=2),
    "three misses wanted, slow lookups": honest(delay=6, lag=4, misses=3, slow_looks=True),
    "slow lookups": honest(delay=6, lag=10, slow_looks=True),
    "one send only": honest(delay=6, lag=4, sends=1),
    "key, slow lookups": honest(key=80, delay=6, lag=4, slow_looks=True),
    "partial effects": honest(delay=6, lag=4, halves=True),
    "partial effects, key": honest(key=80, delay=6, lag=4, halves=True),
    "partial effects, fence": honest(delay=6, lag=4, halves=True, fence=True),
    "failures stored": honest(key=80, delay=6, lag=4, stores_failures=True),
    "failures stored, key barely alive": honest(key=31, delay=6, lag=4, stores_failures=True),
    "failures stored, key for long": honest(key=LONG, delay=6, lag=4, stores_failures=True),
    "failures stored, blind": honest(key=80, delay=6, verify=False, stores_failures=True),
    "fence": honest(delay=None, lag=None, fence=True),
    "fence, all promised": honest(delay=6, lag=4, fence=True),
    "fence, blind": honest(delay=None, verify=False, fence=True),
    "fence, key": honest(key=80, delay=6, lag=4, fence=True),
    "fence, key barely alive, blind": honest(key=31, delay=6, verify=False, fence=True),
    "fence, failures stored": honest(key=80, delay=6, lag=4, fence=True, stores_failures=True),
    "jobs": honest(delay=6, lag=4, job=20),
    "jobs, two misses wanted": honest(delay=6, lag=4, job=20, misses=2),
    "jobs, key": honest(key=80, delay=6, lag=4, job=20),
    "jobs, key, failures stored": honest(key=80, delay=6, lag=4, job=20, stores_failures=True),
    "jobs, nothing promised": honest(delay=None, lag=None, job=20),
    "jobs, fence": honest(delay=6, lag=4, job=20, fence=True),
    "jobs, blind": honest(delay=None, verify=False, job=20),
    "jobs, blind, key": honest(key=80, delay=6, verify=False, job=20),
    "hidden jobs": honest(delay=6, lag=4, job=10, shows_pending=False),
    "hidden jobs, key": honest(key=80, delay=6, lag=4, job=10, shows_pending=False),
    "200 proves nothing": honest(delay=6, lag=4, proves=False),
    "200 proves nothing, key": honest(key=80, delay=6, lag=4, proves=False),
    "200 proves nothing, blind": honest(key=80, delay=6, verify=False, proves=False),
}

PROMISED: dict[str, Service] = {
    "lookup": honest(delay=6, lag=4),
    "lookup, shown late": honest(delay=6, lag=30, shows_late=True),
    "key and lookup": honest(key=80, delay=6, lag=4),
    "key barely alive and lookup": honest(key=31, delay=6, lag=4),
}

MEDDLED: dict[str, Service] = {
    "lookup": PROMISED["lookup"],
    "lookup, shown late": PROMISED["lookup, shown late"],
    "key and lookup": PROMISED["key and lookup"],
    "key, blind": honest(key=80, delay=6, verify=False),
    "key barely alive, blind": honest(key=31, delay=6, verify=False),
    "key, Δ not promised, blind": honest(key=96, delay=None, verify=False),
    "nothing promised": honest(delay=None, lag=None),
    "λ not promised": honest(delay=6, lag=None),
    "Δ not promised": honest(delay=None, lag=4),
    "blind": honest(delay=None, verify=False),
    "blind, Δ promised": honest(delay=6, verify=False),
    "fence": SERVICES["fence"],
    "fence, blind": SERVICES["fence, blind"],
    "failures stored, key for long": SERVICES["failures stored, key for long"],
    "partial effects": SERVICES["partial effects"],
    "jobs": SERVICES["jobs"],
    "jobs, key": SERVICES["jobs, key"],
    "jobs, key, failures stored": SERVICES["jobs, key, failures stored"],
}


def crews() -> Iterator[Scene]:
    hidden = SERVICES["hidden jobs"]
    yield Scene("hidden jobs; notices, outage", hidden, notices=True, outage=30)
    for name, service in MEDDLED.items():
        bare = Scene(name, service)
        yield replace(bare, name=f"{name}; a human speaks and the step is cancelled",
                      human="truthful", cancels=True)  # fmt: skip
        yield replace(bare, name=f"{name}; notices, outage", notices=True, outage=30)
        yield replace(bare, name=f"{name}; reset, a human speaks", resets=True, human="truthful")
        if service.promise.key:  # the only thing whose age counts
            yield replace(bare, name=f"{name}; long outage", outage=2 * LONG)
            yield replace(bare, name=f"{name}; reset, start unknown", resets=True, since=False)
    for name in ("lookup", "key and lookup", "jobs"):
        yield Scene(
            f"{name}; everything at once",
            MEDDLED[name],
            human="truthful",
            cancels=True,
            notices=True,
            resets=True,
            outage=30,
        )


def risky() -> Iterator[Scene]:
    """A human who errs does no harm where absence can be proven, and is found out elsewhere."""
    for name, service in PROMISED.items():
        yield Scene(f"{name}; a hasty human", service, human="hasty")
    slow = SERVICES["slow lookups"]
    yield Scene("slow lookups; a hasty human", slow, human="hasty")
    for name in ("lookup", "key and lookup", "key, blind", "nothing promised", "blind, Δ promised"):
        yield Scene(f"{name}; a slow human", MEDDLED[name], human="slow", outage=30)
    for name in ("nothing promised", "λ not promised", "Δ not promised"):
        yield Scene(f"{name}; a mistaken human", MEDDLED[name], human="mistaken", told=True)
    for name in ("lookup", "jobs", "partial effects"):
        yield Scene(f"{name}; performed long ago", MEDDLED[name], forgotten=True)
