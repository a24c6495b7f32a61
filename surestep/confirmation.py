"""Positive evidence (R7): one hit is enough, and it beats every human's word (R13)."""

from datetime import datetime
from typing import Any

from surestep.decision import Decision, Verdict
from surestep.evidence import Closed, Receipt, State
from surestep.facts import WORD_OF, Anomaly, AnomalyKind, Facts
from surestep.knowledge import know, named

ANOMALIES_LIMIT = 20


def happened(
    record: Facts,
    at: datetime,
    source: str,
    matches: tuple[Receipt, ...],
    *,
    said: str = "",
    **changes: Any,
) -> Facts:
    """The effect is there, as one match or, with an anomaly, as several (R8)."""
    found = matches[0] if matches else Receipt()
    text = f"{said or f'{source} found it'}{named(found)}"
    known = record.confirmation
    found_twice = _several(matches, known)
    if found_twice:
        record = with_anomaly(record, AnomalyKind.DUPLICATE, at, found_twice)
    decision = record.decision
    if decision and decision.verdict is Verdict.CONFIRM:
        text += f", as {decision.author} said"
        if decision.receipt_id and decision.receipt_id not in {one.id for one in matches}:
            why = f"{decision.author} said {decision.receipt_id}; {source} found {found.id}"
            record = with_anomaly(record, AnomalyKind.CONTRADICTED, at, why)
    elif decision:
        text += f"; the decision to {decision.verdict} was not carried out"
        if decision.verdict is Verdict.ABANDON:
            why = f"{decision.author} said that it did not happen; {source} found it"
            record = with_anomaly(record, AnomalyKind.CONTRADICTED, at, why)
    if ended_without_effect(record):
        record = landed_late(record, at, State.CONFIRMED, f"{source} found it{named(found)}")
    if known is None:
        changes |= {"confirmation": found, "confirmed_by": source}
    return know(record, at, text, quiet=known is not None, decision=None, **changes)


def ended_without_effect(record: Facts) -> bool:
    """Whether the verdict knows of no effect, and nothing has contradicted it yet."""
    if record.closed is None:
        return False
    if record.closed.state is State.UNKNOWN:
        return all(known.kind is not AnomalyKind.LATE for known in record.anomalies)
    return record.closed.state in (State.NOT_FOUND, State.REJECTED)


def asserted(decision: Decision) -> dict[str, Any]:
    """The changes where only a human says that it happened."""
    receipt = Receipt(id=decision.receipt_id, status=f"asserted by {decision.author}")
    word = f"{WORD_OF} {decision.author}"
    return {"confirmation": receipt, "confirmed_by": word, "decision": None, "asked": None}


def landed_late(record: Facts, at: datetime, state: State, what: str) -> Facts:
    """R17: the action had ended without an effect, and now there is (something of) one."""
    ended = record.closed.state if record.closed else State.UNKNOWN
    why = f"the action had ended {ended}; {what}"
    late = with_anomaly(record, AnomalyKind.LATE, at, why)
    return late.model_copy(update={"closed": Closed(at=at, state=state, why=why)})


def with_anomaly(record: Facts, kind: AnomalyKind, at: datetime, why: str) -> Facts:
    """The record with one anomaly more, told once and bounded."""
    known = record.anomalies
    if any(old.why == why for old in known) or len(known) >= ANOMALIES_LIMIT:
        return record
    return record.model_copy(update={"anomalies": (*known, Anomaly(kind=kind, at=at, why=why))})


def _several(matches: tuple[Receipt, ...], known: Receipt | None) -> str | None:
    ids = sorted({match.id for match in (*matches, known) if match and match.id})
    count = max(len(matches), len(ids))
    return f"{count} effects of one action: {', '.join(ids) or 'no ids'}" if count > 1 else None
