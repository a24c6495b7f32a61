"""Wrong rules, patched in from outside: each is plausible, and each must be found."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from surestep import fold, policy
from surestep.contract import Contract
from surestep.evidence import Sending, not_found
from surestep.record import Record

from . import laws
from .planted import LATE, LOOKUP, NOTHING, Fault
from .scenes import SERVICES
from .service import LIMIT, honest
from .state import Scene

ZERO = timedelta(0)
Wrong = Callable[..., Any]  # the original, then its arguments


@dataclass(frozen=True)
class Mutant:
    """`owner.name` is replaced by `wrong`, which is given the original first."""

    owner: Any
    name: str
    wrong: Wrong
    fault: Fault


@contextmanager
def applied(mutant: Mutant) -> Iterator[None]:
    right, wrong = getattr(mutant.owner, mutant.name), mutant.wrong
    if isinstance(right, property):
        patch: Any = property(lambda self: wrong(right.fget, self))
    else:
        patch = lambda *args, **named: wrong(right, *args, **named)  # noqa: E731
    setattr(mutant.owner, mutant.name, patch)
    try:
        yield
    finally:
        setattr(mutant.owner, mutant.name, right)


def _erased(right: Wrong, record: Record, evidence: Any) -> Record:
    after = right(record, evidence)
    clean = evidence.outcome in (Sending.NOT_SENT, Sending.REFUSED_FOR_NOW, Sending.REFUSED)
    return after.model_copy(update={"doubt": None}) if clean else after


def _failed_is_a_miss(right: Wrong, record: Record, evidence: Any) -> Record:
    seen = evidence.verification
    if seen.finding == "unknown" and not seen.trace:
        evidence = evidence.model_copy(update={"verification": not_found()})
    return right(record, evidence)


def _trace_is_a_miss(right: Wrong, record: Record, evidence: Any) -> Record:
    if evidence.verification.trace:
        evidence = evidence.model_copy(update={"verification": not_found()})
    return right(record, evidence)


def _counted_by_its_end(right: Wrong, record: Record, evidence: Any) -> Record:
    return right(record, evidence.model_copy(update={"started": evidence.at}))


def _accepted_is_done(right: Wrong, record: Record, evidence: Any) -> Record:
    if evidence.outcome is not Sending.ACCEPTED:
        return right(record, evidence)
    proves = record.contract.model_copy(update={"response_proves": True})
    answered = evidence.model_copy(update={"outcome": Sending.ANSWERED})
    after = right(record.model_copy(update={"contract": proves}), answered)
    return after.model_copy(update={"contract": record.contract})


def _key_from_the_end(right: Wrong, record: Record, evidence: Any) -> Record:
    after = right(record, evidence)
    if record.key_since is None and after.key_since:
        return after.model_copy(update={"key_since": evidence.at})
    return after


def _sent_at_dispatch(right: Wrong, record: Record, evidence: Any) -> Record:
    after = right(record, evidence)
    if after.doubt and record.doubt is None:
        early = after.doubt.model_copy(update={"latest": record.in_flight})
        return after.model_copy(update={"doubt": early})
    return after


def _unsent_is_ambiguous(right: Wrong, record: Record, evidence: Any) -> Record:
    if evidence.outcome is Sending.NOT_SENT:
        evidence = evidence.model_copy(update={"outcome": Sending.AMBIGUOUS})
    return right(record, evidence)


def _fence_always_holds(right: Wrong, record: Record, evidence: Any) -> Record:
    return right(record, evidence.model_copy(update={"held": not evidence.exists}))


def _new_key_each_time(right: Wrong, record: Record, now: Any) -> Any:
    move = right(record, now)
    if isinstance(move, policy.Send):
        return policy.Send(move.number, record.attempts + 1, move.look_first)
    return move


KEY = honest(key=200, delay=6, lag=4)
ONE_RETRY = honest(key=LIMIT + 10, delay=6, verify=False)

MUTANTS: dict[str, Mutant] = {
    "key_alive_when_we_send": Mutant(
        Contract, "dispatch_limit", lambda right, contract: -contract.in_flight_bound,
        Fault(Scene("R4c: the key only has to be alive when we send", ONE_RETRY), 2,
              (laws.ONE_EFFECT,)),
    ),
    "key_counted_from_the_end": Mutant(
        fold, "_attempted", _key_from_the_end,
        Fault(Scene("R4c: the key's life starts when the attempt ended", ONE_RETRY), 2,
              (laws.ONE_EFFECT,)),
    ),
    "new_key_each_time": Mutant(
        policy, "_send", _new_key_each_time,
        Fault(Scene("R2: every attempt has its own key", KEY), 1,
              (laws.NEW_KEY_IS_CLEAN, laws.ONE_EFFECT)),
    ),
    "lag_left_out": Mutant(
        Contract, "settles_after", lambda right, contract: contract.in_flight,
        Fault(Scene("R6: a miss proves absence after Δ, without λ", LATE), 1),
    ),
    "first_miss_is_conclusive": Mutant(
        Contract, "settles_after", lambda right, contract: ZERO,
        Fault(Scene("R6: the first miss proves absence", LOOKUP), 1),
    ),
    "latest_send_is_the_dispatch": Mutant(
        fold, "_attempted", _sent_at_dispatch,
        Fault(Scene("R6: Δ is counted from the dispatch", LOOKUP), 1),
    ),
    "looks_counted_by_their_end": Mutant(
        fold, "looked", _counted_by_its_end,
        Fault(Scene("R6: a look counts by its end", SERVICES["slow lookups"]), 3),
    ),
    "ambiguity_erased": Mutant(
        fold, "_attempted", _erased,
        Fault(Scene("R5: a clean failure erases the doubt", KEY), 2),
    ),
    "failed_look_is_a_miss": Mutant(
        fold, "looked", _failed_is_a_miss,
        Fault(Scene("R9: a failed look is a miss", LATE), 2),
    ),
    "trace_is_a_miss": Mutant(
        fold, "looked", _trace_is_a_miss,
        Fault(Scene("R8: half of the effect is none", SERVICES["partial effects"]), 1),
    ),
    "accepted_is_done": Mutant(
        fold, "_attempted", _accepted_is_done,
        Fault(Scene("R11: 202 is confirmed", SERVICES["jobs"]), 0, (laws.CONFIRMED_IS_TRUE,)),
    ),
    "asked_and_asleep": Mutant(
        policy, "next_look", lambda right, record: None if record.asked else right(record),
        Fault(Scene("R12: nobody looks once a human is asked", NOTHING), 1, (laws.NOT_STUCK,)),
    ),
    "obeyed_without_a_look": Mutant(
        policy, "_freshly_missed", lambda right, record: True,
        Fault(Scene("R13: a decision is obeyed at once", LOOKUP, human="hasty"), 2),
    ),
    "cancel_is_ignored": Mutant(
        fold, "_cancel_requested", lambda right, record, evidence: record,
        Fault(Scene("R14: a cancel changes nothing", LOOKUP, cancels=True), 1,
              (laws.NO_SEND_AFTER_STOP,)),
    ),
    "unsent_is_parked": Mutant(
        fold, "_attempted", _unsent_is_ambiguous,
        Fault(Scene("R18: a refused connection is ambiguous", NOTHING), 1,
              (laws.UNSENT_COMPLETES,)),
    ),
    "reset_forgets": Mutant(
        fold, "_earlier_run", lambda right, record, evidence: record,
        Fault(Scene("a reset starts afresh", LOOKUP, resets=True), 2),
    ),
    "fence_always_holds": Mutant(
        fold, "fenced", _fence_always_holds,
        Fault(Scene("a fence without an answer holds", SERVICES["fence"]), 2),
    ),
    "late_effects_sleep": Mutant(
        Record, "watch_until", lambda right, record: None,
        Fault(Scene("R17: nobody looks after the end", NOTHING, human="mistaken", told=True), 2,
              (laws.LATE_IS_TOLD,)),
    ),
}  # fmt: skip
