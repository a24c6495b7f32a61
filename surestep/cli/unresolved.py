"""`unresolved`: what waits for a person."""

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from surestep.cli import page
from surestep.cli.exits import Exit, epilog
from surestep.cli.session import run, session
from surestep.cli.workers import answered
from surestep.client import Surestep
from surestep.handle import StepHandle
from surestep.narrative import looks_next, when
from surestep.record import Record
from surestep.summary import StepSummary

ASKED_ABOUT = 50
"""How many of the oldest are asked for their reason: each costs a query."""

AT_ONCE = 8
WATCH_EVERY = 2.0  # seconds

EPILOG = epilog(
    Exit.DONE,
    Exit.NOT_SET_UP,
    more=(
        "With --json, stdout is a list of objects, oldest first:\n"
        "  step_id, tools, run, state, anomalies, since, age_seconds, url\n"
        "  about, why null where no worker answers; told: who has been told"
    ),
)


@dataclass(frozen=True)
class _Question:
    """A step that waits for a person. `handle`: who knows why, the step or its late watch."""

    summary: StepSummary
    handle: StepHandle
    url: str | None
    records: tuple[Record, ...] | None = None

    @property
    def why(self) -> str | None:
        return None if self.records is None else reason(list(self.records))

    @property
    def about(self) -> str:
        """The arguments by which a person knows the actions."""
        return ", ".join(one.recognised for one in self.records or () if one.recognised)

    @property
    def since(self) -> datetime:
        return self.summary.unknown_since or self.summary.started


def unresolved(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    tool: Annotated[str | None, typer.Option(help="Only steps of this tool.")] = None,
    state: Annotated[
        str | None, typer.Option(help="Only this state, such as unknown; planned awaits approval.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Print the list again whenever it changes.")
    ] = False,
) -> None:
    """List what waits for a person, oldest first. `decide` without a verdict asks about one."""
    if watch and as_json:
        raise typer.BadParameter("--watch prints for people, --json for programs: choose one")
    run(_watch(tool, state) if watch else _unresolved(as_json, tool, state))


async def _unresolved(as_json: bool, tool: str | None, state: str | None) -> Exit:
    async with session() as surestep:
        questions = await _asked(surestep, tool, state)
    _print(questions, as_json)
    return Exit.DONE


async def _watch(tool: str | None, state: str | None) -> Exit:
    shown: list[tuple[str, str]] | None = None
    async with session() as surestep:
        while True:
            questions = await _asked(surestep, tool, state)
            now = [(one.summary.step_id, _state(one.summary)) for one in questions]
            if now != shown:
                shown = now
                page.line(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC", "bold")
                _print(questions, as_json=False)
                page.line()
            await asyncio.sleep(WATCH_EVERY)


async def _asked(surestep: Surestep, tool: str | None, state: str | None) -> list[_Question]:
    found = [
        one
        for one in await surestep.unresolved()
        if tool in (None, *one.tools) and state in (None, one.state)
    ]
    return await _with_records(surestep, [_question(surestep, one) for one in found])


def _print(questions: list[_Question], as_json: bool) -> None:
    now = datetime.now(UTC)
    if as_json:
        page.document([_document(one, now) for one in questions])
    elif not questions:
        page.aside("nothing waits for a person")
    else:
        _table(questions, now)


def _question(surestep: Surestep, summary: StepSummary) -> _Question:
    handle = surestep.handle(summary.watch_id or summary.step_id)
    return _Question(summary, handle, handle.url)


async def _with_records(surestep: Surestep, questions: list[_Question]) -> list[_Question]:
    turns = asyncio.Semaphore(AT_ONCE)
    silent = asyncio.Event()

    async def ask(question: _Question) -> _Question:
        async with turns:
            if silent.is_set():
                return question
            records = await answered(surestep.client, surestep.task_queue, question.handle.records)
        if records is None:
            silent.set()  # nobody answers; waiting once for that is enough
            return question
        return replace(question, records=tuple(records))

    asked = await asyncio.gather(*(ask(one) for one in questions[:ASKED_ABOUT]))
    return [*asked, *questions[ASKED_ABOUT:]]


def reason(records: list[Record]) -> str | None:
    """Why a person is needed: the questions that are open, then what is odd."""
    asked = [one.asked_why for one in records if one.asked and not one.closed and one.asked_why]
    odd = [anomaly.why for one in records for anomaly in one.anomalies]
    return "; ".join([*asked, *odd]) or None


def _table(questions: list[_Question], now: datetime) -> None:
    rows = [
        (
            _state(one.summary),
            page.age(one.since, now),
            ",".join(one.summary.tools),
            one.summary.step_id,
        )
        for one in questions
    ]
    page.columns([("STATE", "AGE", "TOOL", "STEP"), *rows])
    for one in questions:
        if one.records is not None:
            page.line()
            page.line(one.summary.step_id, "bold")
            _facts(one, now)


def _facts(question: _Question, now: datetime) -> None:
    if question.about:
        page.labelled("about", question.about, indent=2)
    page.labelled("why", question.why or "", indent=2)
    for record in question.records or ():
        if record.closed is None:
            page.labelled("next look", looks_next(record, now), indent=2)
            if record.overdue:
                page.labelled("overdue", f"since {when(record.overdue)}", indent=2)
            if record.told:
                page.labelled("told", ", ".join(record.told), indent=2)


def _state(summary: StepSummary) -> str:
    return ",".join([summary.state, *summary.anomalies])


def _document(question: _Question, now: datetime) -> dict[str, Any]:
    plain = question.summary.model_dump(mode="json")
    return {
        **{field: plain[field] for field in ("step_id", "tools", "run", "state", "anomalies")},
        "since": question.since.isoformat(),
        "age_seconds": int((now - question.since).total_seconds()),
        "about": question.about or None,
        "why": question.why,
        "told": sorted({name for one in question.records or () for name in one.told}),
        "url": question.url,
    }
