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
    return record.approval is None or now >= record.approval.at + rule.valid


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
