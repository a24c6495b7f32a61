"""What exists at the service. Immutable; time passes by `advance`.

A key is the number of its generation: the wire key of generation 2 is `{actionId}~2`.
"""

from typing import NamedTuple

from surestep.evidence import Sending

from .clock import NEVER
from .service import Service

Event = tuple[int, str, str]  # second, who, what: one line of a story


class Request(NamedTuple):
    """`fate`: what becomes of it if the service carries it out: done, half, or failed."""

    key: int
    sent: int
    lands: int
    fate: str = "done"


class Change(NamedTuple):
    """An effect; `whole` is False where only a part of it holds."""

    key: int
    at: int
    whole: bool


class Job(NamedTuple):
    """An accepted request; it ends in an effect or fails."""

    key: int
    accepted: int
    ends: int
    fate: str


class Memory(NamedTuple):
    """What the service knows under a key: the first request that carried it, and its answer."""

    key: int
    first: int
    answer: Sending | None


class World(NamedTuple):
    under_way: tuple[Request, ...] = ()
    effects: tuple[Change, ...] = ()
    jobs: tuple[Job, ...] = ()
    memories: tuple[Memory, ...] = ()
    fenced: tuple[int, ...] = ()


def next_event(world: World, now: int) -> int:
    """When something happens at the service by itself; NEVER if nothing does."""
    if not world.under_way and not world.jobs:
        return NEVER
    landings = (request.lands for request in world.under_way)
    endings = (job.ends for job in world.jobs if job.ends > now)
    return min((*landings, *endings), default=NEVER)


def advance(service: Service, world: World, now: int, until: int) -> tuple[World, list[Event]]:
    """The world at `until`, with everything that happens in (now, until]."""
    told: list[Event] = []
    while (at := next_event(world, now)) <= until:
        for request in [one for one in world.under_way if one.lands == at]:
            rest = list(world.under_way)
            rest.remove(request)
            world, answer = arrive(service, world._replace(under_way=tuple(rest)), request)
            told.append((at, "service", f"the request sent at {request.sent} lands: {answer[1]}"))
        for job in [one for one in world.jobs if one.ends == at > now]:
            world = _end_job(service, world, job)
            told.append((at, "service", f"the job ends: {job.fate}"))
        now = at
    return world, told


def arrive(service: Service, world: World, request: Request) -> tuple[World, tuple[Sending, str]]:
    """The service takes a request, and what it would answer."""
    key, at = request.key, request.lands
    if key in world.fenced:
        return world, (Sending.REFUSED, "refused, the key is fenced")
    memory = recall(service, world, key, at)
    if memory and memory.answer:
        return world, (memory.answer, f"known under its key, answered again: {memory.answer}")
    first = memory.first if memory else at
    if service.job:
        job = Job(key, at, at + service.job, request.fate)
        world = world._replace(jobs=(*world.jobs, job))
        answer, said = Sending.ACCEPTED, "accepted for later"
        if service.job and request.fate == "failed" and not _stores_failures(service):
            said += ", and it is going to fail"
    elif request.fate == "failed":
        answer, said = Sending.REFUSED, "refused, nothing is applied"
    elif request.fate == "half":
        # A success answer would break the promise that the response proves the effect.
        world = world._replace(effects=(*world.effects, Change(key, at, False)))
        answer, said = Sending.AMBIGUOUS, "HALF OF THE EFFECT (500)"
    else:
        world = world._replace(effects=(*world.effects, Change(key, at, True)))
        answer, said = Sending.ANSWERED, "THE EFFECT"
    kept = None if answer is Sending.REFUSED and not _stores_failures(service) else answer
    return _remember(service, world, Memory(key, first, kept)), (answer, said)


def recall(service: Service, world: World, key: int, at: int) -> Memory | None:
    for memory in world.memories:
        if memory.key == key and at < memory.first + service.remembers:
            return memory
    return None


def fence(world: World, key: int) -> tuple[World, Change | None, bool]:
    """Refuse the key from now on. The effect that is there already, or whether the fence holds."""
    mine = [one for one in world.effects if one.key == key]
    if mine:
        return world, mine[0] if mine[0].whole else None, False
    jobs = tuple(job for job in world.jobs if job.key != key)
    return world._replace(jobs=jobs, fenced=tuple({*world.fenced, key})), None, True


def _end_job(service: Service, world: World, job: Job) -> World:
    if job.fate == "done":
        return world._replace(effects=(*world.effects, Change(job.key, job.ends, True)))
    memory = recall(service, world, job.key, job.ends)
    if memory is None:
        return world
    answer = Sending.REFUSED if _stores_failures(service) else None
    return _remember(service, world, memory._replace(answer=answer))


def _remember(service: Service, world: World, memory: Memory) -> World:
    if not service.remembers:
        return world
    others = tuple(one for one in world.memories if one.key != memory.key)
    return world._replace(memories=(*others, memory))


def _stores_failures(service: Service) -> bool:
    key = service.promise.key
    return key is not None and key.stores_failures
