"""Everything that a lookup can honestly show, the kindest first.

A lookup that reads at `at` may be served by a replica that is up to λ behind: it shows the
service as it was at one instant in [at - λ, at]. Each lookup chooses anew, so that an effect may
be seen, not seen, and seen.
"""

from collections.abc import Iterator
from functools import cache

from surestep.evidence import (
    Receipt,
    Verification,
    confirmed,
    not_found,
    pending,
    rejected,
    unknown,
)

from .service import Service
from .world import Change, World

FAILED = unknown("the lookup failed")
MISSED = not_found()
PENDING = pending("the job is under way")
REJECTED = rejected("the job failed")
HALF = unknown("a part is missing", holds=["the row"], missing=["the mail"])


def sights(service: Service, world: World, key: int, at: int) -> Iterator[Verification]:
    if not world.effects and not world.jobs:
        yield MISSED
        yield FAILED
        return
    times = {at, at - service.lag}
    times |= {change for change in _changes(world) if at - service.lag < change < at}
    seen: list[Verification] = []
    for instant in sorted(times, reverse=not service.shows_late):
        sight = _as_of(service, world, key, instant)
        if sight not in seen:
            seen.append(sight)
    yield from seen
    yield FAILED


def _changes(world: World) -> Iterator[int]:
    for effect in world.effects:
        yield effect.at
    for job in world.jobs:
        yield job.accepted
        yield job.ends


def _as_of(service: Service, world: World, key: int, instant: int) -> Verification:
    effects = tuple(one for one in world.effects if one.key == key and one.at <= instant)
    if effects:
        return _found(effects) if all(one.whole for one in effects) else HALF
    if service.shows_pending:
        jobs = [job for job in world.jobs if job.key == key and job.accepted <= instant]
        if any(job.ends > instant for job in jobs):
            return PENDING
        if jobs:
            return REJECTED
    return MISSED


@cache
def _found(effects: tuple[Change, ...]) -> Verification:
    return confirmed(matches=[receipt(effect) for effect in effects])


@cache
def receipt(effect: Change) -> Receipt:
    return Receipt(id=f"effect-of-{effect.at}")
