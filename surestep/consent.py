"""Approval before sending (R19): when it is needed, and the question. Pure."""

from datetime import datetime

from surestep.decision import Verdict
from surestep.facts import Facts


def needs_approval(record: Facts, now: datetime) -> bool:
    """Whether a human must say yes before anything is sent.

    A decision to retry is such a yes. One that has waited too long is asked for again.
    """
    rule = record.contract.approval
    if rule is None or not record.needs_approval:
        return False
    if record.decision and record.decision.verdict is Verdict.RETRY:
        return retry_lapsed(record, now)
    approval = record.approval
    if approval is None or (approval.expires and now >= approval.expires):
        return True
    return now >= approval.at + rule.valid


def said_until(record: Facts) -> datetime | None:
    """From when on what a human has said, and nobody has carried out, says nothing; None: never."""
    if record.decision:
        return record.decision.expires
    return record.undo_until if record.undo_asked else None


def send_before(record: Facts) -> datetime | None:
    """Until when a send that rests on a human's word must begin; None: it rests on none."""
    if record.spent == 0 and record.begin_by:
        return record.begin_by
    if record.decision and record.decision.verdict is Verdict.RETRY:
        return record.decision.expires
    approval = record.approval if record.needs_approval and record.doubt is None else None
    return approval.expires if approval else None


def retry_lapsed(record: Facts, now: datetime) -> bool:
    """Whether a decision to retry was a yes too long ago to begin now.

    Its time runs from when it can be carried out at the earliest.
    """
    rule, decision = record.contract.approval, record.decision
    if rule is None or not record.needs_approval or decision is None or decision.at is None:
        return False
    ready = record.conclusive_from or record.landing_until or decision.at
    return decision.verdict is Verdict.RETRY and now >= max(decision.at, ready) + rule.valid


def awaits_approval(record: Facts) -> bool:
    """Whether the open question is one for approval."""
    return record.asked is not None and record.doubt is None and record.needs_approval


def approval_question(record: Facts) -> str:
    """What a human is asked, in one sentence without a full stop."""
    what = f"{record.tool} of {record.recognised}" if record.recognised else record.tool
    if record.approval:
        return (
            f"{what} was approved by {record.approval.by} at "
            f"{record.approval.at:%Y-%m-%d %H:%M:%S %Z}, and that is too long ago to begin it now"
        )
    return f"{what} must be approved before it is sent"
