"""How sightings change a record: lookups, notices, and the receiver's answer to a fence."""

from datetime import datetime
from typing import Any

from surestep import evidence as ev
from surestep.decision import Verdict
from surestep.evidence import Finding, Receipt, State
from surestep.knowledge import ABSENT, doubt_of, know, named
from surestep.record import Anomaly, AnomalyKind, Looks, Record


def looked(record: Record, evidence: ev.Looked) -> Record:
    seen, at, looks = evidence.verification, evidence.at, record.looks
    finding = seen.finding
    if finding is Finding.CONFIRMED and seen.differs:
        finding = Finding.UNKNOWN  # R8
    failed = finding is Finding.UNKNOWN and not seen.trace
    looks = looks.model_copy(
        update={
            "total": looks.total + 1,
            "count": looks.count + 1,
            "started": evidence.started,
            "at": at,
            "finding": finding,
            "failures": looks.failures + 1 if failed else 0,  # R9
            "why": seen.trace or seen.why,
        }
    )
    changes: dict[str, Any] = {"looks": looks}
    if record.in_flight and not record.spent:
        changes["before"] = seen
    match finding:
        case Finding.CONFIRMED:
            return _happened(record, at, "a lookup", seen.matches, **changes)
        case Finding.REJECTED if record.doubt and (
            record.contract.key is not None or record.doubt.attempts == 1
        ):
            changes |= {"rejection": seen.why or "refused by the service", "doubt": None}
            changes |= {"accepted": None, "asked": None}
            return know(record, at, f"a lookup found it refused: {seen.why}", **changes)
        case Finding.PENDING | Finding.REJECTED:
            found = seen.matches[0] if seen.matches else Receipt()
            changes |= {"looks": looks.model_copy(update={"misses": 0})}
            changes |= {"accepted": record.accepted or found}
            changes |= {"accepted_at": record.accepted_at or at}
            changes |= _first_doubt(record, at)
            return know(
                record, at, f"a lookup found it {finding}: {seen.why}", quiet=True, **changes
            )
        case Finding.UNKNOWN if seen.trace:
            changes |= {"trace": seen.trace, "looks": looks.model_copy(update={"misses": 0})}
            changes |= _first_doubt(record, at) | _contradict_decision(record, evidence.started)
            return know(record, at, f"a lookup saw a trace; {seen.trace}", quiet=True, **changes)
        case Finding.UNKNOWN:
            why = f"a lookup failed: {seen.why or 'no reason given'}"
            return know(record, at, why, quiet=True, **changes)
        case Finding.NOT_FOUND:
            return _missed(record, evidence, looks)


def _first_doubt(record: Record, at: datetime) -> dict[str, Any]:
    """Something of ours is there although nothing was sent by this run."""
    if record.doubt or record.in_flight or record.closed:
        return {}
    return {"doubt": doubt_of(record, None, at), "key_dead": True, "spent": record.spent + 1}


def _contradict_decision(record: Record, started: datetime) -> dict[str, Any]:
    decision = record.decision
    if decision and decision.at and started >= decision.at and not decision.accept_duplicate:
        return {"decision": None, "refused_decisions": record.refused_decisions + 1}
    return {}


def _missed(record: Record, evidence: ev.Looked, looks: Looks) -> Record:
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


def noticed(record: Record, evidence: ev.Noticed) -> Record:
    if evidence.happened:
        return _happened(record, evidence.at, "a notice", (evidence.receipt,))
    why = evidence.why or "the service reported a failure"
    if record.closed or record.confirmation:
        return know(record, evidence.at, f"a notice says it failed: {why}", quiet=True)
    only = record.doubt is not None and record.doubt.attempts == 1
    changes: dict[str, Any] = {"rejection": why}
    if record.contract.key is not None or only:
        changes |= {"doubt": None, "accepted": None, "asked": None}
    return know(record, evidence.at, f"a notice says it failed: {why}", **changes)


def _happened(
    record: Record, at: datetime, source: str, matches: tuple[Receipt, ...], **changes: Any
) -> Record:
    """Positive evidence (R7): one hit is enough, and it beats every human's word."""
    found = matches[0] if matches else Receipt()
    text = f"{source} found it{named(found)}"
    anomalies = list(record.anomalies)
    known = record.confirmation
    ids = sorted({match.id for match in (*matches, known) if match and match.id})
    if len(matches) > 1 or len(ids) > 1:
        why = f"{max(len(matches), len(ids))} effects of one action: {', '.join(ids) or 'no ids'}"
        if not any(old.why == why for old in anomalies):
            anomalies.append(Anomaly(kind=AnomalyKind.DUPLICATE, at=at, why=why))
    decision = record.decision
    if decision:
        text += f"; the decision to {decision.verdict} was not carried out"
        if decision.verdict is Verdict.ABANDON:
            why = f"{decision.author} said that it did not happen; {source} found it"
            anomalies.append(Anomaly(kind=AnomalyKind.CONTRADICTED, at=at, why=why))
    if record.closed and record.closed.state in (State.NOT_FOUND, State.REJECTED):
        why = f"the action had ended {record.closed.state}; {source} found it{named(found)}"
        anomalies.append(Anomaly(kind=AnomalyKind.LATE, at=at, why=why))
        changes["closed"] = ev.Closed(at=at, state=State.CONFIRMED, why=why)
    if known is None:
        changes |= {"confirmation": found, "confirmed_by": source}
    changes |= {"anomalies": tuple(anomalies), "decision": None}
    return know(record, at, text, quiet=known is not None, **changes)


def fenced(record: Record, evidence: ev.Fenced) -> Record:
    at = evidence.at
    if evidence.exists:
        return _happened(record, at, "the fence", (evidence.exists,), fence_tried=at)
    if not evidence.held:
        changes = {"fence_tried": at, "fence_failures": record.fence_failures + 1}
        return know(record, at, f"the fence failed: {evidence.why}", quiet=True, **changes)
    text = "fenced: the receiver has not applied it and will refuse it from now on"
    absent = {} if record.trace else {**ABSENT, "accepted": None}
    return know(record, at, text, fenced=True, fence_tried=at, **absent)
