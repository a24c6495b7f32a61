"""A record in words, for a person at three in the morning. Pure; no secrets pass through here."""

import json
import re
from datetime import UTC, datetime, timedelta
from shlex import quote

from surestep.agenda import next_look, overdue_at
from surestep.consent import awaits_approval
from surestep.contract import Effect
from surestep.decision import HOW_YOU_KNOW, SERVICE_ID, YOUR_NAME, Decision, Verdict
from surestep.evidence import Finding, State
from surestep.facts import Facts
from surestep.policy import next_watch
from surestep.reasons import doubt_in_words
from surestep.ruling import verdicts

SETBACK = re.compile(r"attempt \d+ was (not sent|refused for now)")


def when(time: datetime | None) -> str:
    """A time to the second, in UTC, as people read it."""
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if time else "an unknown time"


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
        left = f"at {since}" if since == latest else f"between {since} and {latest}"
        return f"nothing, except that a request may have left {left}"
    if record.in_flight:
        return f"an attempt is under way since {when(record.in_flight)}"
    if record.absent:
        return "nothing happened: no request can land any more, and none was found"
    return "nothing was applied"


def forbidden(record: Facts) -> str:
    """What must not be done now."""
    if record.closed or record.confirmation:
        return "repeating it"
    if record.doubt is None and record.stop:
        return "sending again, the step was asked to stop"
    if record.contract.effect is Effect.READ:
        return "nothing"
    if record.doubt is None:
        if awaits_approval(record):
            return "doing it by hand while it waits for approval"
        if record.in_flight:
            return "doing it by hand or by another step: it is being sent"
        return "doing it by hand or by another step: it is sent by itself, unless it is abandoned"
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


def happened(record: Facts) -> str:
    """What happened so far, in one sentence without a full stop."""
    told = [line for line in record.log if line.text.startswith(("attempt ", "may have been"))]
    parts = [f"{when(told[-1].at)}: {told[-1].text}"] if told else []
    if record.decision:
        author, verdict = record.decision.author, record.decision.verdict
        late = f", overdue since {when(record.overdue)}" if record.overdue else ""
        parts.append(f"{author} decided to {verdict}; it is not carried out yet{late}")
    elif record.asked:
        late = f", overdue since {when(record.overdue)}" if record.overdue else ""
        parts.append(f"{record.asked_why}; a human is asked since {when(record.asked)}{late}")
    elif record.doubt:
        parts.append(doubt_in_words(record))
    parts += [f"{one.by} said {one.verdict}; one more person must agree" for one in record.agreed]
    return "; ".join(parts) or "nothing was sent yet"


def candidates(record: Facts) -> str:
    """What looks like the effect and is no proof of it."""
    if record.trace:
        return record.trace
    if not record.can_verify:
        return "none, this tool has no lookup"
    if record.looks.at is None:
        return "none yet, nobody has looked"
    return f"none under our key; last look: {_last_look(record)}"


def next_by_itself(record: Facts, now: datetime) -> str:
    """What comes next if no human does anything."""
    if record.in_flight:
        return "the attempt under way comes to its end"
    rule = record.contract.approval
    if record.doubt is None and record.asked and rule:
        return f"if nobody approves it until {when(record.asked + rule.expires)}, it is not run"
    look = looks_next(record, now)
    parts = ["no look, the tool has no lookup" if look.startswith("never") else f"a look: {look}"]
    if record.patient_until:
        parts.append(f"a human is asked again at {when(record.patient_until)}")
    overdue = overdue_at(record)
    if overdue:
        parts.append(f"overdue at {when(overdue)}")
    return "; ".join(parts)


def is_open(record: Facts) -> bool:
    """Whether it waits for something that a person may want to know or decide."""
    return record.closed is None and bool(record.doubt or record.asked)


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


def decision_json(record: Facts, verdict: Verdict, now: datetime) -> str:
    """The input of the signal `decide`, ready to paste."""
    said: dict[str, object] = {"action": record.name, "verdict": verdict.value}
    said["version"] = record.version
    if verdict is Verdict.APPROVE:
        said["input_hash"] = record.input_hash
    if verdict is Verdict.CONFIRM:
        said["receipt_id"] = SERVICE_ID
    if verdict is Verdict.KEEP_LOOKING:
        said["until"] = f"{now + timedelta(days=1):%Y-%m-%dT%H:%M:00Z}"
    return json.dumps({**said, "by": YOUR_NAME, "note": HOW_YOU_KNOW})


def decision_command(
    step_id: str, record: Facts, verdict: Verdict, said: Decision | None = None
) -> str:
    """The command that decides, ready to paste; `said`: what was typed already."""
    note = said.note if said and said.note else HOW_YOU_KNOW
    name = said.receipt_id if said else SERVICE_ID
    until = f"{said.until.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if said and said.until else "24h"
    more = {
        Verdict.CONFIRM: f" --id {quote(name)}" if name else "",
        Verdict.KEEP_LOOKING: f" --until {until}",
    }.get(verdict, "")
    if said and said.accept_duplicate:
        more += " --accept-duplicate"
    told = f'"{note}"' if note.replace(" ", "").isalnum() else quote(note)
    return (
        f"python starter.py decide {step_id}/{record.name} {verdict.value} "
        f"--version {record.version} --note {told}{more}"
    )
