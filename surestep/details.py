"""A step as Markdown, for the Web UI's current details. Pure; no secrets pass through here.

The Web UI shows them in half a page, rendered as HTML, and passes them on in an address, which
proxies limit to 8 kB: what is asked, and what was answered, stands first.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from surestep.decision import Verdict
from surestep.facts import Facts, Line
from surestep.narrative import (
    MEANING,
    candidates,
    decision_json,
    forbidden,
    happened,
    is_open,
    looks_next,
    next_by_itself,
    proven,
    when,
)
from surestep.ruling import verdicts
from surestep.shown import mask_of, shown

SIGNS: Final = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~&:])")
REFUSAL: Final = re.compile(rf" decided to ({'|'.join(Verdict).replace('_', ' ')}): refused, ")
OTHERS_WORDS: Final = ("attempt ", "a lookup ", "a notice ", "the fence ", "a human is ", "ended ")
QUOTE_LIMIT: Final = 300
QUESTIONS_LIMIT: Final = 3  # told in full
REFUSALS_LIMIT: Final = 5
OTHERS_LIMIT: Final = 20


def details(step_id: str, records: Sequence[Facts], notes: Sequence[str], now: datetime) -> str:
    """What was refused, what is wrong, what is asked, and how the rest stands."""
    hide = mask_of(records).text
    records, notes = [shown(record) for record in records], [hide(note) for note in notes]
    asked = [record for record in records if is_open(record)]
    others = [record for record in records if not is_open(record)]
    parts = [
        _list("Refused", [*_refusals(records), *map(quoted, notes)][-REFUSALS_LIMIT:][::-1]),
        _list("Anomalies", _anomalies(records)),
        *(_question(step_id, record, now) for record in asked[:QUESTIONS_LIMIT]),
    ]
    if asked[QUESTIONS_LIMIT:]:
        names = ", ".join(quoted(record.name) for record in asked[QUESTIONS_LIMIT:])
        parts.append(f"Then, once these are decided: {names}")
    lines = [_line(record, now) for record in others[:OTHERS_LIMIT]]
    if others[OTHERS_LIMIT:]:
        lines.append(f"and {len(others) - OTHERS_LIMIT} more")
    parts.append(_list("Actions", lines))
    return "\n\n".join(part for part in parts if part)


def quoted(text: str) -> str:
    """What others wrote, as one line of plain text.

    The Web UI's Markdown lets HTML, images and links through, and makes one dash of two: a service
    could forge the page, and an id would not be the id any more.
    """
    return SIGNS.sub(r"\\\1", " ".join(text.split())[:QUOTE_LIMIT])


def _list(heading: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    return f"### {heading}\n\n" + "\n".join(f"- {line}" for line in lines)


def _refusals(records: Sequence[Facts]) -> list[str]:
    return [
        f"{quoted(record.name)}: {quoted(line.text)}"
        for record in records
        for line in record.log
        if _is_refusal(line)
    ]


def _is_refusal(line: Line) -> bool:
    """A service's words can say the same; lines that hold them begin in their own way."""
    if line.text.startswith(("a decision could not be read: ", "a notice does not count: ")):
        return True
    return bool(REFUSAL.search(line.text)) and not line.text.startswith(OTHERS_WORDS)


def _anomalies(records: Sequence[Facts]) -> list[str]:
    return [
        f"**{anomaly.kind}** at {when(anomaly.at)}: {quoted(anomaly.why)}"
        for record in records
        for anomaly in record.anomalies
    ]


def _line(record: Facts, now: datetime) -> str:
    return (
        f"{quoted(record.name)} ({quoted(record.tool)}): **{record.state}**; proven: "
        f"{quoted(proven(record))}; next look: {quoted(looks_next(record, now))}"
    )


def _question(step_id: str, record: Facts, now: datetime) -> str:
    lines = [
        f"- **What happened:** {quoted(happened(record))}",
        f"- **Proven:** {quoted(proven(record))}",
        f"- **Forbidden now:** {forbidden(record)}",
        f"- **Candidates found:** {quoted(candidates(record))}",
        f"- **Next, by itself:** {quoted(next_by_itself(record, now))}",
    ]
    if record.decision:
        author, verdict = record.decision.author, record.decision.verdict
        lines.append(f"- **Decided, not yet carried out:** {verdict}, by {quoted(author)}")
    lines.append(
        "- **Decide:** More Actions, *Send a Signal*, `decide`. Paste one block in place of what "
        "is there, put in who you are and how you know, then press R here for the answer."
    )
    parts = [f"### {quoted(record.name)}: **{record.state}**", "\n".join(lines)]
    for verdict in verdicts(record):
        block = decision_json(record, verdict, now)
        parts.append(f"`{verdict}`: {MEANING[verdict]}\n\n```json\n{block}\n```")
    parts.append(
        f"In a terminal, which asks step by step:\n\n```\n{_command(step_id, record)}\n```"
    )
    return "\n\n".join(parts)


def _command(step_id: str, record: Facts) -> str:
    return f"python starter.py decide {step_id}/{record.name}"
