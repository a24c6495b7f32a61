"""How one action stands, for the person who is to decide it."""

import json
from datetime import UTC, datetime
from typing import Final

from surestep.cli import page
from surestep.consent import awaits_approval
from surestep.evidence import State
from surestep.narrative import forbidden, happened, next_by_itself, proven, when
from surestep.record import Record
from surestep.shown import shown

ARGUMENTS_LIMIT: Final = 2000  # characters; what is longer is read in the Web UI


def facts(record: Record) -> None:
    """The facts, in the order in which a person needs them; personal values are masked."""
    record = shown(record)
    page.labelled("action", record.action_id)
    page.labelled("state", record.state.value, style=page.style_of(record.state))
    if record.recognised:
        page.labelled("about", record.recognised)
    if awaits_approval(record):
        page.labelled("arguments", arguments(record))
        if record.personal:
            step = record.action_id.rpartition("/")[0]
            page.labelled("masked", f"`python starter.py show {step} --reveal` shows all of it")
    page.labelled("happened", happened(record))
    waits = None if record.decision else decided(record)
    if waits:
        page.labelled("decided", waits)
    page.labelled("proven", proven(record))
    page.labelled("forbidden", forbidden(record))
    if record.trace:
        page.labelled("found", record.trace)
    page.labelled("next", next_by_itself(record, datetime.now(UTC)))
    if record.told:
        page.labelled("told", ", ".join(record.told))


def decided(record: Record) -> str | None:
    """What people have said and is not done yet; None: nothing of that kind."""
    if record.undo_asked and record.state is State.CONFIRMED:
        return f"{record.undo_asked} wants it undone; it is not undone yet"
    if record.closed:
        return None
    if record.decision:
        said = f"{record.decision.author} decided to {record.decision.verdict}"
        return f"{said} at {when(record.decision.at)}; it is not carried out yet"
    if record.approval and record.asked is None and record.state is State.PLANNED:
        return f"{approved(record)}; it is not sent yet"
    if record.patient_until and record.asked is None:
        return f"to keep looking; a person is asked again at {when(record.patient_until)}"
    one_of_two = [f"{one.by} said {one.verdict}; one more must agree" for one in record.agreed]
    return "; ".join(one_of_two) or None


def approved(record: Record) -> str:
    """By whom and when, and how long that counts."""
    approval, rule = record.approval, record.contract.approval
    if approval is None:
        return "not approved"
    until = f", counts until {when(approval.at + rule.valid)}" if rule else ""
    return f"approved by {approval.by} at {when(approval.at)}{until}"


def arguments(record: Record) -> str:
    """What an approval is for, as it will be sent."""
    text = json.dumps(record.arguments, ensure_ascii=False, sort_keys=True)
    if len(text) <= ARGUMENTS_LIMIT:
        return text
    return f"{text[:ARGUMENTS_LIMIT]} … ({len(text)} characters; the whole is in the Web UI)"
