"""A service: what it promises (the contract of the tool), and what is true of it."""

from dataclasses import dataclass
from datetime import timedelta

from surestep.contract import Contract, Effect, KeySupport

from .clock import whole

QUEUE, TIMEOUT = 2, 3
LIMIT = 15 + QUEUE + 2 * TIMEOUT  # the contract's dispatch_limit: an attempt sends until then
UNPROMISED_DELAY = 90
UNPROMISED_LAG = 70


@dataclass(frozen=True)
class Service:
    """`promise` is what the policy is told; the rest is what happens.

    delay            longest time after sending until a request takes effect
    lag              longest time after a change until every lookup shows it
    remembers        how long a key is known after the first request that carried it; 0: never
    job              an accepted request is worked on for so long; 0: the answer is the effect
    shows_pending    lookups show a job that is still under way
    redelivers       a request may be delivered twice
    halves           a request may take effect in part
    shows_late       lookups show as little as they may, by habit
    slow_looks       a lookup may take long, and may have read at its start or at its end
    frozen           a worker may freeze between its last check and the send, and send for all that
    """

    promise: Contract
    can_verify: bool
    can_fence: bool
    delay: int
    lag: int
    remembers: int
    job: int = 0
    shows_pending: bool = True
    redelivers: bool = False
    halves: bool = False
    shows_late: bool = False
    slow_looks: bool = False
    frozen: bool = False


def honest(
    *,
    key: int | None = None,
    stores_failures: bool = False,
    delay: int | None = 0,
    lag: int | None = 0,
    misses: int = 1,
    sends: int = 3,
    verify: bool = True,
    fence: bool = False,
    proves: bool = True,
    job: int = 0,
    shows_pending: bool = True,
    **habits: bool,
) -> Service:
    """A service that keeps its promises exactly: what is promised is also the worst that happens.

    Where Δ or λ is not promised (None) the worst is long, but under a key no longer than the
    half of its lifetime that stands in for Δ (R4).
    """
    if not verify:
        lag = None
    # A job that no lookup shows is in flight until it ends.
    hidden = job if job and not shows_pending else 0
    contract = Contract(
        overdue_after=None,
        effect=Effect.IRREVERSIBLE,
        key=None if key is None else KeySupport(lifetime=_s(key), stores_failures=stores_failures),
        in_flight=None if delay is None else _s(delay + hidden),
        visibility_lag=None if lag is None else _s(lag),
        response_proves=proves and not job,
        misses=misses,
        sends=sends,
        queue=_s(QUEUE),
        timeout=_s(TIMEOUT),
        patience=_s(5),
        completes_within=_s(60),
        watch=_s(180),
        ask=True,
    )
    assert whole(contract.dispatch_limit) == LIMIT
    worst = delay if delay is not None else key // 2 - hidden if key else UNPROMISED_DELAY
    return Service(
        promise=contract,
        can_verify=verify,
        can_fence=fence,
        delay=worst,
        lag=UNPROMISED_LAG if lag is None else lag,
        remembers=key or 0,
        job=job,
        shows_pending=shows_pending,
        redelivers=key is not None,
        **habits,
    )


def _s(seconds: int) -> timedelta:
    return timedelta(seconds=seconds)
