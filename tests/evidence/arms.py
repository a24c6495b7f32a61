"""What callers do without Surestep: each arm performs one call of a tool, and tells the agent.

An arm takes the service, a key for the call and the time; it returns what the agent is told and
when. None of them asks a human. The published algorithm is in `published`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from .service import LOOKS_IN, Answer, Reply, Sight

BACKOFF: Final = 2.0  # seconds before a look or a retry; doubled each time
LIBRARY_SENDS: Final = 3
DAY: Final = 86_400.0


class Said(StrEnum):
    DONE = "done"
    FAILED = "failed"
    OPEN = "open"  # nobody knows, and the agent is told so


@dataclass(frozen=True)
class Told:
    """What the agent is told of one call, and when.

    asked      when a human was first asked; answered: when a human's word was taken
    avoidable  the truth could have been known without the human (see `judgement`)
    anomalies  what a watch reported after the end
    """

    said: Said
    at: float
    state: str = ""
    asked: float | None = None
    answered: float | None = None
    avoidable: bool = False
    anomalies: int = 0


class Upstream(Protocol):
    """A `Service`, or a batch of them."""

    def send(self, key: str, at: float) -> Answer: ...
    def look(self, at: float) -> Sight: ...
    def lands_at(self) -> float | None: ...


Arm = Callable[[Upstream, str, float], Told]

SUCCESS: Final = (Reply.ANSWER, Reply.ACCEPTED)
DEFINITE: Final = (Reply.AGAIN, Reply.REFUSED, Reply.UNREACHABLE)


def plain(service: Upstream, key: str, now: float) -> Told:
    """Sends once and believes what it hears; no answer is a failure."""
    answer = service.send(key, now)
    return tell(answer)


def blind_retry(service: Upstream, key: str, now: float) -> Told:
    """Sends once more whenever the first answer is not a success."""
    return _retrying(service, key, now, sends=2)


def library_retries(service: Upstream, key: str, now: float) -> Told:
    """What HTTP libraries do: up to three sends, with back-off, heeding Retry-After."""
    return _retrying(service, key, now, sends=LIBRARY_SENDS)


def verify_only(service: Upstream, key: str, now: float) -> Told:
    """Sends once; where the answer is ambiguous, one look after a pause decides."""
    answer = service.send(key, now)
    if answer.reply in SUCCESS or answer.reply in DEFINITE:
        return tell(answer)
    seen = service.look(answer.at + BACKOFF)
    said = Said.DONE if seen is Sight.WHOLE else Said.FAILED
    return Told(said, answer.at + BACKOFF + LOOKS_IN)


def verify_before_retry(service: Upstream, key: str, now: float) -> Told:
    """Library retries, with a look before each: what is seen is not sent again.

    Where the look says nothing, nothing is sent again either.
    """
    for number in range(LIBRARY_SENDS):
        answer = service.send(key, now)
        if answer.reply in SUCCESS:
            return tell(answer)
        now = answer.at + max(BACKOFF * 2**number, answer.pause or 0.0)
        if answer.reply in DEFINITE:
            continue
        seen = service.look(now)
        now += LOOKS_IN
        if seen in (Sight.WHOLE, Sight.PENDING):
            return Told(Said.DONE, now)
        if seen is not Sight.NOTHING:
            return Told(Said.FAILED, now)
    return Told(Said.FAILED, now)


def oracle(service: Upstream, key: str, now: float) -> Told:
    """Knows what will land and sends again only if nothing will: the best that a client can do."""
    while now < DAY:
        answer = service.send(key, now)
        landing = service.lands_at()
        if answer.reply in SUCCESS:
            return tell(answer)
        pause = max(BACKOFF, answer.pause or 0.0)
        now = answer.at + pause if landing is None else landing
        if answer.reply not in DEFINITE and _is_there(service, now):
            return Told(Said.DONE, now)
    return Told(Said.FAILED, now)


def _retrying(service: Upstream, key: str, now: float, *, sends: int) -> Told:
    answer = service.send(key, now)
    for number in range(sends - 1):
        if answer.reply in SUCCESS:
            break
        pause = max(BACKOFF * 2**number, answer.pause or 0.0)
        answer = service.send(key, answer.at + pause)
    return tell(answer)


def tell(answer: Answer) -> Told:
    return Told(Said.DONE if answer.reply in SUCCESS else Said.FAILED, answer.at)


def _is_there(service: Upstream, at: float) -> bool:
    services = getattr(service, "items", [service])
    for one in services:
        one.advance(at)
    return any(one.rows for one in services)
