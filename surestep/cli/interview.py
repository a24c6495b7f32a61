"""`decide` without a verdict: shows the facts first, then asks step by step."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from surestep.cli import page, standing
from surestep.cli.keyboard import agreed, choice, text, time_ahead
from surestep.client import Surestep
from surestep.decision import Decision, Verdict
from surestep.narrative import MEANING, when
from surestep.record import Record
from surestep.ruling import verdicts

NOTE_LIMIT = 1000
ID_LIMIT = 200


@dataclass(frozen=True)
class Answer:
    """What was answered: the verdict on what was shown."""

    verdict: Verdict
    version: int
    input_hash: str
    note: str
    receipt_id: str | None = None
    until: datetime | None = None


async def choose_step(surestep: Surestep) -> str | None:
    """One of the steps that wait for a decision; None: none does."""
    found = await surestep.unresolved()
    waiting = [one for one in found if one.watch_id is None]
    if not waiting:
        page.aside("nothing waits for a decision")
        if found:
            page.aside("but anomalies wait to be looked at: `python starter.py anomalies`")
        return None
    now = datetime.now(UTC)
    rows = [
        (
            str(number),
            one.state,
            page.age(one.unknown_since or one.started, now),
            ",".join(one.tools),
            one.step_id,
        )
        for number, one in enumerate(waiting, start=1)
    ]
    page.columns([("", "STATE", "AGE", "TOOL", "STEP"), *rows])
    return (await choice("Which one", waiting)).step_id


async def choose_action(records: Sequence[Record]) -> Record | None:
    """The action that waits for a decision, or one of several; None: no decision is accepted."""
    open_ = [one for one in records if verdicts(one)]
    asked = [one for one in open_ if one.asked]
    of = asked or open_
    if len(of) < 2:
        return next(iter(of), None)
    page.line()
    for number, one in enumerate(of, start=1):
        page.line(f"{number:>3}  {one.state:<10} {one.name}")
    return await choice("Which action", of)


async def ask(record: Record, by: str, said_before: str = "") -> Answer | None:
    """Show what is known, and ask; None: no decision is accepted now, or none was wanted.

    said_before  the note that the command line gives already
    """
    page.line()
    standing.facts(record)
    accepted = verdicts(record)
    if not accepted:
        page.aside("no decision is accepted now")
        return None
    page.line()
    for number, one in enumerate(accepted, start=1):
        page.line(f"{number:>3}  {one.value:<14} {MEANING[one]}")
    verdict = await choice("What do you say", accepted)
    receipt_id = until = None
    if verdict is Verdict.CONFIRM:
        question = "The service's own id of the effect (empty: not known)"
        receipt_id = await text(question, needed=False, most=ID_LIMIT) or None
    if verdict is Verdict.KEEP_LOOKING:
        until = await time_ahead("Until when (as 24h, 3d, or an ISO time)")
    note = said_before or await text("How do you know", needed=True, most=NOTE_LIMIT)
    if not await agreed(_summary(record, verdict, by, receipt_id, until)):
        page.aside("nothing was sent")
        return None
    return Answer(verdict, record.version, record.input_hash, note, receipt_id, until)


async def says(record: Record, said: Decision) -> bool:
    """Show what the decision would answer, and whether the person says so of that."""
    standing.facts(record)
    page.line()
    return await agreed(_summary(record, said.verdict, said.by, said.receipt_id, said.until))


def _summary(
    record: Record, verdict: Verdict, by: str, receipt_id: str | None, until: datetime | None
) -> str:
    """What is about to be said, in one line."""
    named = f" as {receipt_id}" if receipt_id else ""
    time = f" until {when(until)}" if until else ""
    return f"{verdict} {record.action_id}{named}{time}, says {by or 'nobody'}"
