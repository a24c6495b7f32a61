"""The people who are asked. What they say comes from the ledger, never from a record."""

from collections.abc import Callable
from random import Random
from typing import Final

from surestep.decision import Verdict

from .service import Service, Sight

SOONEST: Final = 5 * 60.0
LATEST: Final = 4 * 3600.0

Word = Verdict | float
"""A verdict, or the time at which they come back."""

Human = Callable[[Service, float, int], Word]
"""From the service, the time, and how often they have said retry before."""


def knowing(service: Service, now: float, retries: int) -> Word:
    """Tells the truth (H6): looks into the service itself, and waits for what is under way there.

    What is there in part they complete by hand first. What three retries did not do is given up.
    """
    if service.is_down(now):
        return service.down[1]
    service.advance(now)
    landing = service.lands_at()
    if landing is not None and landing > now:
        return landing
    if service.rows:
        service.repair()
        return Verdict.CONFIRM
    return Verdict.RETRY if retries < 3 else Verdict.ABANDON


def hasty(service: Service, now: float, retries: int) -> Word:
    """Says what is to be seen now: "it is not there" for what has not landed yet."""
    if service.is_down(now):
        return service.down[1]
    service.advance(now)
    if service.rows:
        service.repair()
        return Verdict.CONFIRM
    return Verdict.RETRY if retries < 3 else Verdict.ABANDON


def presses_retry(service: Service, now: float, retries: int) -> Word:
    """Looks at nothing."""
    return Verdict.RETRY if retries < 3 else Verdict.ABANDON


def comes_after(seed: str) -> float:
    """Seconds from a question to the first answer: log-uniform between minutes and hours."""
    low, high = SOONEST, LATEST
    return float(low * (high / low) ** Random(f"human {seed}").random())


def blind(service: Service, now: float) -> bool:
    """Whether a lookup says nothing, so that a person's word is all there is."""
    return service.sight(now) is Sight.BLIND
