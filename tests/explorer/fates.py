"""Everything that can become of one attempt, the kindest first."""

from collections.abc import Iterator
from typing import NamedTuple

from surestep.evidence import Sending

from .service import LIMIT, Service
from .world import Request, World, recall

NOT_SENT, FOR_NOW, REFUSED = Sending.NOT_SENT, Sending.REFUSED_FOR_NOW, Sending.REFUSED
AMBIGUOUS = Sending.AMBIGUOUS


class Fate(NamedTuple):
    """`outcome` is what the workflow learns at `ends`; None: the answer to `asks`, landing then."""

    story: str
    ends: int
    outcome: Sending | None = None
    asks: Request | None = None
    sends: tuple[Request, ...] = ()
    retry_after: float | None = None


def fates(service: Service, world: World, key: int, now: int) -> Iterator[Fate]:
    last = now + LIMIT
    yield Fate("it is sent and answered at once", now, asks=Request(key, now, now))
    yield Fate(
        "it waits as long as it may, then is sent and answered", last, asks=Request(key, last, last)
    )
    for ends in (now, last):
        yield Fate("it provably never leaves (refused connection, no mark)", ends, NOT_SENT)
        yield Fate("the worker dies after its mark, or the request is lost", ends, AMBIGUOUS)
    yield Fate("the service is busy and takes nothing (429)", now, FOR_NOW)
    yield Fate("the service is busy for 30 s (429)", now, FOR_NOW, retry_after=30)
    yield Fate("the service refuses it and applies nothing (403)", now, REFUSED)
    windows = ((now, now), (now, last), (last, last))
    for sent, ends in windows:
        for delay in _delays(service):
            for fate in _endings(service):
                request = Request(key, sent, sent + delay, fate)
                yield Fate(f"sent at {sent}, {_lands(request)}", ends, AMBIGUOUS, sends=(request,))
    if service.redelivers and service.delay:
        for sent in (now, last):
            if not _still_known(service, world, key, sent):
                continue
            twice = (Request(key, sent, sent), Request(key, sent, sent + service.delay))
            yield Fate(
                f"sent at {sent}, delivered at once and again at {sent + service.delay}; "
                "the reply is lost", sent, AMBIGUOUS, sends=twice,
            )  # fmt: skip
    if service.job or (service.promise.key and service.promise.key.stores_failures):
        yield Fate("it is sent at once and will fail", now, asks=Request(key, now, now, "failed"))
    if service.frozen:
        late = Request(key, last + service.delay + 60, last + service.delay + 60)
        yield Fate("the worker freezes after its mark and sends when it wakes", now, AMBIGUOUS,
                   sends=(late,))  # fmt: skip


def _still_known(service: Service, world: World, key: int, sent: int) -> bool:
    """Redelivery is harmless only under a key that the second delivery still finds known.

    A policy cannot prevent it: elsewhere it is a hypothesis (`redelivery_without_key`). It comes
    to that where a human lets an attempt go under a key that is about to be forgotten.
    """
    memory = recall(service, world, key, sent)
    known_from = memory.first if memory else sent
    return service.promise.key is None or sent + service.delay < known_from + service.remembers


def _delays(service: Service) -> list[int]:
    middle = service.delay // 2 if service.delay > 3 else 0
    return sorted({0, middle, service.delay})


def _endings(service: Service) -> list[str]:
    endings = ["done"]
    if service.job or (service.promise.key and service.promise.key.stores_failures):
        endings.append("failed")
    if service.halves:
        endings.append("half")
    return endings


def _lands(request: Request) -> str:
    note = "" if request.fate == "done" else f" ({request.fate})"
    return f"lands at {request.lands}{note}; the reply is lost"
