"""The metrics, defined before anything runs: the ledger at the horizon against what was said.

An episode is all that one agent intends: one effect, or several. Each flag is of an episode.

exact            each intended effect is in the ledger exactly once, whole
duplicate        some effect, or its first part, is there more than once
missing          nothing of some effect is there
part             of some effect only the first part is there
false_confirmed  the agent was told "done", and no whole effect is there
false_not_found  the agent was told "failed" or "not there", and something is there
asked            a human was asked
avoidable        … although the truth could be known without (see `avoidable`)
unanswered       nobody knew at the horizon, and the agent was told so
over_claimed     the agent's closing statement is "all done", and it is not exact
reported         an anomaly was reported
by_itself        settled without a human, and exact
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from .arms import Said, Told
from .service import CLIENT_LIMIT, Service, Sight

if TYPE_CHECKING:
    from .executor import Declared


@dataclass(frozen=True)
class Judged:
    exact: bool
    duplicate: bool
    missing: bool
    part: bool
    false_confirmed: bool
    false_not_found: bool
    asked: bool
    avoidable: bool
    unanswered: bool
    over_claimed: bool
    reported: bool
    by_itself: bool

    @property
    def letters(self) -> str:
        """The flags that hold, a letter each, for the raw results."""
        held = [LETTERS[one.name] for one in fields(self) if getattr(self, one.name)]
        return "".join(held) or "-"


FLAGS = tuple(one.name for one in fields(Judged))
LETTERS = dict(zip(FLAGS, "xdmpcnauwors", strict=True))


def judge(services: Sequence[Service], told: Sequence[Told], until: float) -> Judged:
    """`told` is the last word on each effect."""
    for one in services:
        one.advance(until)
    rows = [one.rows for one in services]
    exact = all(len(made) == 1 and made[0].whole for made in rows)
    pairs = list(zip(rows, told, strict=True))
    asked = any(one.asked is not None for one in told)
    return Judged(
        exact=exact,
        duplicate=any(len(made) > 1 for made in rows),
        missing=any(not made for made in rows),
        part=any(made and not any(row.whole for row in made) for made in rows),
        false_confirmed=any(
            one.said is Said.DONE and not any(row.whole for row in made) for made, one in pairs
        ),
        false_not_found=any(one.said is Said.FAILED and bool(made) for made, one in pairs),
        asked=asked,
        avoidable=any(one.avoidable for one in told),
        unanswered=any(one.said is Said.OPEN for one in told),
        over_claimed=all(one.said is Said.DONE for one in told) and not exact,
        reported=any(one.anomalies for one in told),
        by_itself=exact and not asked,
    )


def avoidable(service: Service, declared: "Declared", now: float) -> bool:
    """Whether the truth could be known without a human when the question was put.

    Said from the contract, the service and its ledger, never from what Surestep concluded:

    * a look at this moment shows the whole effect;
    * or the service honours the key for another send, and nothing but lost answers speaks against
      one: no acceptance (the first 202 is replayed), no part of the effect (a repeat adds nothing);
    * or Δ and λ are promised, and the service could be reached for some time after both had passed.

    A part of an effect can never be settled by a client.
    """
    contract, last = declared.contract, service.requests[-1]
    if any(not row.whole for row in service.rows):
        return False
    if declared.looks and service.sight(now) is Sight.WHOLE:
        return True
    ahead = (contract.dispatch_limit + contract.in_flight_bound).total_seconds()
    if (
        contract.key
        and service.remembers is not None
        and not service.accepted
        and service.reached < contract.sends
        and now + ahead < service.requests[0] + contract.key.lifetime.total_seconds()
        and not service.is_down(now)
    ):
        return True
    settles = contract.settles_after
    if not declared.looks or settles is None or service.accepted:
        return False
    late_enough = last + CLIENT_LIMIT + settles.total_seconds()
    return late_enough < now and (service.can_see(late_enough) or service.can_see(now))
