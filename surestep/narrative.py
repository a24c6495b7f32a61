"""A record in words, for a person at three in the morning. Pure; no secrets pass through here."""

import json
import re
from collections.abc import Sequence
from datetime import datetime

from surestep.contract import Effect
from surestep.decision import Verdict
from surestep.evidence import Finding, State
from surestep.facts import Facts, Line
from surestep.policy import doubt_in_words, next_look, next_watch
from surestep.ruling import verdicts

SETBACK = re.compile(r"attempt \d+ was (not sent|refused for now)")


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
        again = f"not needed; the next attempt is at {when(record.not_before)}"
        return f"{again}, for {setback}" if (setback := _setback(record)) else again
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
    parts += [
        _question(step_id, record) for record in records if record.doubt and not record.closed
    ]
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


def _last_look(record: Facts) -> str:
    """Also where a human was asked before it, for another reason."""
    match record.looks.finding:
        case Finding.NOT_FOUND:
            said = "it did not find it"
        case Finding.UNKNOWN:
            said = f"it failed: {record.looks.why}"
        case finding:
            said = f"{finding}: {record.looks.why}" if record.looks.why else f"{finding}"
    return f"{when(record.looks.at)}, {said}"


def _setback(record: Facts) -> str:
    """The attempt that did nothing and is made again, and why it did nothing."""
    said = (line.text for line in reversed(record.log) if SETBACK.match(line.text))
    return next(said, "")


def _refusals(record: Facts) -> list[Line]:
    return [
        line for line in record.log if "refused, " in line.text or "could not be read" in line.text
    ]


def _question(step_id: str, record: Facts) -> str:
    lines = [
        f"### {record.name}: {record.state}",
        "",
        f"- Why: {_cell(record.asked_why or doubt_in_words(record))}",
        f"- Forbidden now: {forbidden(record)}",
    ]
    if record.looks.at:
        lines.insert(3, f"- Last look: {_cell(_last_look(record))}")
    if record.decision:
        author, verdict = record.decision.author, record.decision.verdict
        lines.append(f"- Decided, not yet carried out: {verdict}, by {_cell(author)}")
    lines += ["", "Signal or update `decide`, with one of:", "", "```json"]
    lines += [decision_json(record, verdict) for verdict in verdicts(record)]
    lines += ["```", "", "or in a terminal:", "", "```"]
    lines += [decision_command(step_id, record, verdict) for verdict in verdicts(record)]
    return "\n".join([*lines, "```"])


def decision_json(record: Facts, verdict: Verdict) -> str:
    """The input of the signal `decide`, ready to paste."""
    blank = {"action": record.name, "verdict": verdict.value, "version": record.version}
    return json.dumps({**blank, "by": "YOUR NAME", "note": "HOW YOU KNOW"})


def decision_command(step_id: str, record: Facts, verdict: Verdict) -> str:
    """The command that decides, ready to paste."""
    named = " --id SERVICE-ID" if verdict is Verdict.CONFIRM else ""
    return (
        f"python starter.py decide {step_id}/{record.name} {verdict.value} "
        f'--version {record.version} --note "HOW YOU KNOW"{named}'
    )


def _cell(text: str) -> str:
    """Text that cannot break out of a table cell or forge Markdown."""
    return " ".join(text.split()).replace("|", "\\|").replace("`", "'").replace("<", "&lt;")[:300]
