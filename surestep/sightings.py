"""How sightings change a record: lookups, notices, and the receiver's answer to a fence."""

from datetime import datetime
from typing import Any

from surestep import evidence as ev
from surestep.confirmation import (
    asserted,
    ended_without_effect,
    happened,
    landed_late,
    with_anomaly,
)
from surestep.decision import Decision, Verdict
from surestep.evidence import Finding, Receipt, State
from surestep.facts import AnomalyKind, Doubt, Facts, Looks
from surestep.knowledge import ABSENT, NOBODY_ASKED, doubt_of, know


def looked(record: Facts, evidence: ev.Looked) -> Facts:
    """One lookup, whatever it saw; and what it means for a human's word that it happened."""
    known, decision = _looked(record, evidence), record.decision
    if decision is None or decision.verdict is not Verdict.CONFIRM or known.confirmation:
        return known
    if decision.at is None or evidence.started < decision.at:
        # It says nothing against the word, and nothing is sent over that: a fresh look comes next.
        asked = {"doubt": record.doubt, "absent": False, "rejection": record.rejection}
        return known.model_copy(update={**asked, "accepted": record.accepted or known.accepted})
    at = evidence.at
    # The refusal of one attempt says nothing about another that is still in doubt.
    refused = known.rejection if known.doubt is None else None
    against = refused or ("a late enough lookup did not find it" if known.absent else None)
    lapsed = decision.expires is not None and at >= decision.expires
    if lapsed and against is None:
        return known.model_copy(update={"doubt": record.doubt})
    if against is None or (decision.accept_duplicate and not lapsed):
        text = f"confirmed on the word of {decision.author}, which the lookup could not check"
        return know(known, at, text, doubt=record.doubt, absent=False, **asserted(decision))
    return _contradicts(known, decision, record.doubt, at, against)


def _contradicts(
    record: Facts, decision: Decision, doubt: Doubt | None, at: datetime, against: str
) -> Facts:
    """R13: evidence beats the word that it happened.

    Nothing is sent again over it; a human says what follows.
    """
    said = f"{decision.author} said that it happened"
    record = with_anomaly(record, AnomalyKind.CONTRADICTED, at, f"{said}; {against}")
    changes: dict[str, Any] = {"doubt": doubt, "absent": False, "decision": None}
    if record.rejection is None:
        changes["trace"] = f"{said}, and {against}"
    text = f"{said}, and that was not carried out: {against}"
    return know(record, at, text, **changes, **NOBODY_ASKED)


def _looked(record: Facts, evidence: ev.Looked) -> Facts:
    seen, at = evidence.verification, evidence.at
    looks = _counted(record.looks, evidence)
    changes: dict[str, Any] = {"looks": looks}
    if record.in_flight and not record.spent:
        record = record.model_copy(update={"before": seen})
    match looks.finding:
        case Finding.CONFIRMED:
            return happened(record, at, "a lookup", seen.matches, **changes)
        case Finding.REJECTED:
            text = f"a lookup found it refused: {seen.why}"
            return _said_no(record, at, text, seen.why, evidence.started, **changes)
        case Finding.PENDING:
            return _pending(record, evidence, changes)
        case Finding.NOT_FOUND:
            return _missed(record, evidence, looks)
        case _ if seen.trace:
            return _traced(record, evidence, seen.trace, changes)
        case _:
            text = f"a lookup failed: {seen.why or 'no reason given'}"
            return know(record, at, text, news=False, **changes)


def _counted(looks: Looks, evidence: ev.Looked) -> Looks:
    """The looks with one more; only another miss continues a row of misses (R6, R9)."""
    seen = evidence.verification
    finding = seen.finding
    if finding is Finding.CONFIRMED and seen.differs:
        finding = Finding.UNKNOWN  # R8
    failed = finding is Finding.UNKNOWN and not seen.trace
    return Looks(
        total=looks.total + 1,
        count=looks.count + 1,
        misses=looks.misses if finding is Finding.NOT_FOUND else 0,
        failures=looks.failures + 1 if failed else 0,
        started=evidence.started,
        at=evidence.at,
        finding=finding,
        why=seen.trace or seen.why,
    )


def _pending(record: Facts, evidence: ev.Looked, changes: dict[str, Any]) -> Facts:
    seen, at = evidence.verification, evidence.at
    if ended_without_effect(record):
        record = landed_late(record, at, State.UNKNOWN, "a lookup found it under way")
    changes |= {"accepted": record.accepted or (seen.matches[0] if seen.matches else Receipt())}
    changes |= {"accepted_at": record.accepted_at or at}
    changes |= _first_doubt(record, at)
    return know(record, at, f"a lookup found it pending: {seen.why}", quiet=True, **changes)


def _traced(record: Facts, evidence: ev.Looked, trace: str, changes: dict[str, Any]) -> Facts:
    """A part of the effect, or a deviating one (R8)."""
    at, text = evidence.at, f"a lookup saw a trace; {trace}"
    if ended_without_effect(record):
        record = landed_late(record, at, State.UNKNOWN, f"a lookup saw a trace; {trace}")
    count = len(evidence.verification.matches)
    if count > 1:
        why = f"{count} effects of one action, and not all as asked for"
        record = with_anomaly(record, AnomalyKind.DUPLICATE, at, why)
    decision = record.decision
    answered = decision and decision.at and evidence.started >= decision.at
    confirms = decision and decision.verdict is Verdict.CONFIRM
    if decision and answered and not decision.accept_duplicate and not confirms:
        text += f"; the decision to {decision.verdict} was not carried out"
        changes |= {"decision": None, "asked": None}
    changes |= {"trace": trace} | _first_doubt(record, at)
    return know(record, at, text, quiet=True, **changes)


def _first_doubt(record: Facts, at: datetime) -> dict[str, Any]:
    """Something of ours is there although nothing was sent by this run."""
    if record.doubt or record.closed:
        return {}
    return {"doubt": doubt_of(record, None, at, at), "key_dead": True, "spent": record.spent + 1}


def _missed(record: Facts, evidence: ev.Looked, looks: Looks) -> Facts:
    """A miss; conclusive only as R6 says."""
    conclusive = record.conclusive_from
    if conclusive is None or evidence.started < conclusive:
        return know(record, evidence.at, "a lookup did not find it", quiet=True, looks=looks)
    looks = looks.model_copy(update={"misses": looks.misses + 1})
    if looks.misses < record.contract.misses:
        text = "a late enough lookup did not find it"
        return know(record, evidence.at, text, quiet=True, looks=looks)
    text = "proven absent: no request can land any more, and a late enough lookup did not find it"
    return know(record, evidence.at, text, looks=looks, **ABSENT)


def _said_no(
    record: Facts,
    at: datetime,
    text: str,
    why: str,
    looked: datetime | None = None,
    **changes: Any,
) -> Facts:
    """The service itself says that it decided against our request."""
    if record.closed or record.confirmation or record.trace:
        return know(record, at, text, quiet=True, **changes)
    if not _speaks_for_all(record, at, looked):
        text += "; it does not say which attempt it means"
        return know(record, at, text, quiet=True, **changes)
    changes |= {"rejection": why or "refused by the service"}
    return know(record, at, text, doubt=None, accepted=None, asked=None, **changes)


def _speaks_for_all(record: Facts, at: datetime, looked: datetime | None) -> bool:
    """Whether a no that the service reports covers every attempt that may have left.

    looked  when the lookup that reports it started; None: a notice, which may be an old one
    """
    key, doubt, settles = record.contract.key, record.doubt, record.contract.settles_after
    if not record.spent:
        return not record.inherited
    if record.in_flight or doubt is None or record.keys_unknown:
        return False
    if record.spent == 1 and not record.inherited:
        return True
    if looked and settles is not None and looked >= doubt.latest + settles:
        return True
    if key is None or record.key_dead or record.key_since is None:
        return False
    return key.stores_failures and at < record.key_since + key.lifetime


def noticed(record: Facts, evidence: ev.Noticed) -> Facts:
    """The service spoke by itself."""
    at = evidence.at
    if evidence.happened:
        return happened(record, at, "a notice", (evidence.receipt,))
    why = evidence.why or "the service reported a failure"
    if record.asserted:
        against = f"{record.confirmed_by} was that it happened; a notice says it failed: {why}"
        record = with_anomaly(record, AnomalyKind.CONTRADICTED, at, against)
    known, decision = _said_no(record, at, f"a notice says it failed: {why}", why), record.decision
    if decision and decision.verdict is Verdict.CONFIRM:
        return _contradicts(known, decision, known.doubt, at, f"a notice says it failed: {why}")
    return known


def fenced(record: Facts, evidence: ev.Fenced) -> Facts:
    """The receiver's answer to the request to refuse this key from now on."""
    at = evidence.at
    if evidence.exists:
        return happened(record, at, "the fence", (evidence.exists,), fence_tried=at)
    if not evidence.held:
        tries = record.fence_failures + 1
        text = f"the fence failed: {evidence.why}"
        return know(record, at, text, news=False, fence_tried=at, fence_failures=tries)
    text = "fenced: the receiver has not applied it and will refuse it from now on"
    absent = {} if record.trace else {**ABSENT, "accepted": None}
    known = know(record, at, text, fenced=True, fence_tried=at, **absent)
    against, decision = "the receiver had not applied it, and refuses it now", record.decision
    if record.asserted:
        word = f"{record.confirmed_by} was that it happened; {against}"
        return with_anomaly(known, AnomalyKind.CONTRADICTED, at, word)
    if decision and decision.verdict is Verdict.CONFIRM:
        return _contradicts(known, decision, record.doubt, at, against)
    return known
