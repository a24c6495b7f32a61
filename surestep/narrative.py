"""A record in words, for a person at three in the morning. Pure; no secrets pass through here."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from surestep.contract import Effect
from surestep.decision import Verdict
from surestep.evidence import State
from surestep.facts import Facts, Line
from surestep.policy import next_look, next_watch, overdue_at
from surestep.reasons import doubt_in_words
from surestep.ruling import verdicts


def when(time: datetime | None) -> str:
    """A time to the second, in UTC, as people read it."""
    return f"{time:%Y-%m-%d %H:%M:%S} UTC" if time else "an unknown time"


def proven(record: Facts) -> str:
    """What is proven, and by what."""
    if record.closed and record.closed.state is State.COMPENSATED:
        return "it happened, and its undo is confirmed"
    if record.confirmation:
        named = f" as {record.confirmation.id}" if record.confirmation.id else ""
        return f"it happened{named}, by {record.confirmed_by}"
    if record.closed:
        return f"it ended {record.closed.state}: {record.closed.why}"
    if record.doubt:
        since, latest = when(record.doubt.since), when(record.doubt.latest)
        return f"nothing, except that a request may have left between {since} and {latest}"
    if record.in_flight:
        return f"an attempt is under way since {when(record.in_flight)}"
    if record.absent:
        return "nothing happened: no request can land any more, and none was found"
    return "nothing was applied"


def forbidden(record: Facts) -> str:
    """What must not be done now."""
    if record.closed or record.confirmation:
        return "repeating it"
    if record.doubt is None:
        return "sending again, the step was asked to stop" if record.stop else "nothing"
    if record.contract.effect is Effect.READ:
        return "nothing"
    if record.contract.key and not record.key_dead:
        return "repeating it by hand or under another key"
    return "sending it again, by hand or by a new step, until it is known what happened"


def looks_next(record: Facts, now: datetime) -> str:
    """When the service is looked at next."""
    if record.closed:
        watch = next_watch(record, now)
        return f"watched, next at {when(watch.at)}" if watch else "no more"
    if record.doubt is None and record.not_before:
        return f"not needed; the next attempt is at {when(record.not_before)}"
    look = next_look(record)
    if look:
        return "now" if look <= now else when(look)
    return "never, the tool has no lookup" if not record.can_verify else "not needed"


def options(record: Facts) -> str:
    """Which decisions are accepted."""
    return ", ".join(verdicts(record)) or "none"


def sentence(record: Facts, now: datetime) -> str:
    """The record in one sentence."""
    return (
        f"{record.action_id} is {record.state}: proven is {proven(record)}; "
        f"forbidden now is {forbidden(record)}; next look: {looks_next(record, now)}; "
        f"decisions accepted: {options(record)}."
    )


def details(step_id: str, records: Sequence[Facts], notes: list[str], now: datetime) -> str:
    """The step as Markdown, for the Web UI's current details."""
    rows = [
        f"| {_cell(record.name)} | {_cell(record.tool)} | **{record.state}** | "
        f"{_cell(proven(record))} | {_cell(looks_next(record, now))} |"
        for record in records
    ]
    parts = [
        "| action | tool | state | proven | next look |\n|---|---|---|---|---|\n" + "\n".join(rows)
    ]
    parts += [_question(step_id, record, now) for record in records if _is_open(record)]
    anomalies = [
        f"- **{anomaly.kind}** at {when(anomaly.at)}: {anomaly.why}"
        for record in records
        for anomaly in record.anomalies
    ]
    if anomalies:
        parts.append("### Anomalies\n\n" + "\n".join(anomalies))
    refused = [f"- {record.name}: {line.text}" for record in records for line in _refusals(record)]
    refused += [f"- {note}" for note in notes]
    if refused:
        parts.append("### Refused\n\n" + "\n".join(refused[-10:]))
    return "\n\n".join(parts)


def _is_open(record: Facts) -> bool:
    return record.closed is None and bool(record.doubt or record.asked)


def _refusals(record: Facts) -> list[Line]:
    return [
        line for line in record.log if "refused, " in line.text or "could not be read" in line.text
    ]


def _question(step_id: str, record: Facts, now: datetime) -> str:
    """What happened, what is proven, what is forbidden, what was found, what comes, what to do."""
    lines = [
        f"### {record.name}: {record.state}",
        "",
        f"- What happened: {_cell(happened(record))}",
        f"- Proven: {_cell(proven(record))}",
        f"- Forbidden now: {forbidden(record)}",
    ]
    if record.trace:
        lines.append(f"- Found: {_cell(record.trace)}")
    lines.append(f"- Next, by itself: {_cell(next_by_itself(record, now))}")
    lines += [
        f"- {_cell(agreement.by)} said {agreement.verdict}; one more person must agree"
        for agreement in record.agreed
    ]
    lines += ["", "To decide, *Send a Signal* or *Send an Update* `decide`, with one of:"]
    for verdict in verdicts(record):
        said = decision_json(record, verdict, now)
        lines += ["", f"{MEANING[verdict]}:", "", "```json", said, "```"]
    terminal = f"python starter.py decide {step_id}/{record.name}"
    lines += ["", "or in a terminal, which asks step by step:", "", "```", terminal, "```"]
    return "\n".join(lines)


MEANING = {
    Verdict.CONFIRM: "It happened",
    Verdict.RETRY: "It did not happen; do it again",
    Verdict.ABANDON: "It did not happen; do not do it",
    Verdict.KEEP_LOOKING: "Keep looking, and ask again then",
    Verdict.LEAVE_UNKNOWN: "Nobody will ever know; go on with that",
    Verdict.UNDO: "It happened; undo it",
    Verdict.APPROVE: "It may be done, once, with exactly these arguments",
    Verdict.REFUSE: "It must not be done",
}


def happened(record: Facts) -> str:
    """What happened so far, in one sentence without a full stop."""
    if record.decision:
        author, verdict = record.decision.author, record.decision.verdict
        return f"{author} decided to {verdict}; it is not carried out yet"
    why = record.asked_why if record.asked else ""
    if record.doubt:
        why = why or doubt_in_words(record)
    late = f", overdue since {when(record.overdue)}" if record.overdue else ""
    asked = f"; a human is asked since {when(record.asked)}{late}" if record.asked else ""
    return f"{why or 'nothing was sent yet'}{asked}"


def next_by_itself(record: Facts, now: datetime) -> str:
    """What comes next if no human does anything."""
    rule = record.contract.approval
    if record.doubt is None and record.asked and rule:
        return f"if nobody approves it until {when(record.asked + rule.expires)}, it is not run"
    look = looks_next(record, now)
    parts = ["no look, the tool has no lookup" if look.startswith("never") else f"a look: {look}"]
    if record.patient_until:
        parts.append(f"a human is asked again at {when(record.patient_until)}")
    overdue = overdue_at(record)
    if overdue:
        parts.append(f"somebody else is told at {when(overdue)}")
    return "; ".join(parts)


def decision_json(record: Facts, verdict: Verdict, now: datetime) -> str:
    """The input of the signal `decide`, ready to paste."""
    said: dict[str, object] = {"action": record.name, "verdict": verdict.value}
    said["version"] = record.version
    if verdict is Verdict.APPROVE:
        said["input_hash"] = record.input_hash
    if verdict is Verdict.KEEP_LOOKING:
        said["until"] = f"{now + timedelta(days=1):%Y-%m-%dT%H:%M:00Z}"
    return json.dumps({**said, "by": "YOUR NAME", "note": "HOW YOU KNOW"})


def decision_command(step_id: str, record: Facts, verdict: Verdict) -> str:
    """The command that decides, ready to paste."""
    more = {
        Verdict.CONFIRM: " --id SERVICE-ID",
        Verdict.KEEP_LOOKING: " --until 24h",
    }.get(verdict, "")
    return (
        f"python starter.py decide {step_id}/{record.name} {verdict.value} "
        f'--version {record.version} --note "HOW YOU KNOW"{more}'
    )


def _cell(text: str) -> str:
    """Text that cannot break out of a table cell or forge Markdown."""
    return " ".join(text.split()).replace("|", "\\|").replace("`", "'").replace("<", "&lt;")[:300]
