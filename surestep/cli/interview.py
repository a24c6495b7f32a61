"""`decide` without a verdict: shows the facts first, then asks step by step."""

import asyncio
import sys
from dataclasses import dataclass
from datetime import UTC, datetime

import typer

from surestep.cli import page
from surestep.cli.moments import moment
from surestep.client import Surestep
from surestep.decision import Verdict
from surestep.narrative import MEANING, forbidden, happened, next_by_itself, proven
from surestep.record import Record
from surestep.ruling import verdicts


@dataclass(frozen=True)
class Answer:
    """What was answered: the verdict on what was shown."""

    verdict: Verdict
    version: int
    input_hash: str
    note: str
    receipt_id: str | None = None
    until: datetime | None = None


def can_ask() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty()


async def choose_step(surestep: Surestep) -> str | None:
    """One of the steps that wait for a human; None: nothing does."""
    waiting = [one for one in await surestep.unresolved() if one.watch_id is None]
    if not waiting:
        return None
    now = datetime.now(UTC)
    for number, one in enumerate(waiting, start=1):
        since = page.age(one.unknown_since or one.started, now)
        page.line(f"{number:>3}  {one.state}  {since}  {one.step_id}")
    return waiting[await _number("Which one", len(waiting)) - 1].step_id


async def ask(record: Record) -> Answer | None:
    """Show what is known, and ask; None: no decision is accepted now, or none was wanted."""
    show(record)
    accepted = verdicts(record)
    if not accepted:
        page.aside("no decision is accepted now")
        return None
    page.line()
    for number, one in enumerate(accepted, start=1):
        page.line(f"{number:>3}  {one.value:<14} {MEANING[one]}")
    verdict = accepted[await _number("What do you say", len(accepted)) - 1]
    receipt_id = until = None
    if verdict is Verdict.CONFIRM:
        receipt_id = await _text("The service's own id of the effect (empty: not known)") or None
    if verdict is Verdict.KEEP_LOOKING:
        until = await _moment()
    note = await _text("How do you know")
    if not await asyncio.to_thread(typer.confirm, f"{verdict.value} {record.action_id}"):
        page.aside("nothing was sent")
        return None
    return Answer(verdict, record.version, record.input_hash, note, receipt_id, until)


def show(record: Record) -> None:
    """The facts, in the order in which a person needs them."""
    now = datetime.now(UTC)
    page.labelled("action", record.action_id)
    page.labelled("state", record.state.value, style=page.style_of(record.state))
    if record.recognised:
        page.labelled("about", record.recognised)
    page.labelled("happened", happened(record))
    page.labelled("proven", proven(record))
    page.labelled("forbidden", forbidden(record))
    if record.trace:
        page.labelled("found", record.trace)
    page.labelled("next", next_by_itself(record, now))


async def _number(question: str, most: int) -> int:
    while True:
        given = await _text(f"{question} (1-{most})")
        if given.isdecimal() and 1 <= int(given) <= most:
            return int(given)
        page.aside(f"a number from 1 to {most}, please; Ctrl-C leaves everything as it is")


async def _moment() -> datetime:
    while True:
        try:
            return moment(await _text("Until when (as 24h, 3d, or an ISO time)"))
        except typer.BadParameter as error:
            page.aside(error.message)


async def _text(question: str) -> str:
    answer: str = await asyncio.to_thread(typer.prompt, question, default="", show_default=False)
    return answer.strip()
