"""`unresolved`: what waits for a person."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import Annotated, Any

import typer
from temporalio.service import RPCError

from surestep.cli import page
from surestep.cli.exits import Exit, epilog
from surestep.cli.session import run, session
from surestep.cli.standing import decided
from surestep.cli.workers import answered, start_one
from surestep.client import Surestep
from surestep.connection import waiting_url
from surestep.evidence import State
from surestep.handle import StepHandle
from surestep.narrative import next_by_itself, when
from surestep.outage import Outage
from surestep.record import Record
from surestep.shown import shown
from surestep.summary import StepSummary

ASKED_ABOUT = 50
"""How many of the oldest are asked for their reason: each costs a query."""

AT_ONCE = 8
WATCH_EVERY = 2.0  # seconds
FACTS_EVERY = 15  # rounds of a watch; in between only the list is asked

EPILOG = epilog(
    Exit.DONE,
    Exit.NOT_SET_UP,
    more=(
        "With --json, stdout is a list of objects, oldest first:\n"
        "  step_id, tools, run, state, anomalies, since, age_seconds, url\n"
        "  about    the arguments by which a person knows it\n"
        "  why      why a person is needed\n"
        "  decided  what a person has said already and is not carried out yet\n"
        "  next     what comes next if nobody does anything\n"
        "  overdue  since when the question has stood for too long\n"
        "  told     a list of who has been told\n"
        "  (about to overdue are null where there is nothing to say, or no worker\n"
        "  answers; only the oldest 50 are asked about)"
    ),
)


@dataclass(frozen=True)
class _Question:
    """A step that waits for a person. `handle`: who knows why, the step or its late watch."""

    summary: StepSummary
    handle: StepHandle
    url: str | None
    records: tuple[Record, ...] | None = None
    silent: bool = False  # it was asked for, and nobody answered

    @property
    def open(self) -> list[Record]:
        return [one for one in self.records or () if one.closed is None]

    @property
    def about(self) -> str | None:
        """The arguments by which a person knows the actions."""
        return _joined([one.recognised for one in self.records or ()])

    @property
    def why(self) -> str | None:
        return None if self.records is None else reason(list(self.records))

    @property
    def decided(self) -> str | None:
        return _joined([decided(one) for one in self.open])

    @property
    def overdue(self) -> datetime | None:
        return min((one.overdue for one in self.open if one.overdue), default=None)

    @property
    def told(self) -> list[str]:
        return sorted({name for one in self.records or () for name in one.told})

    @property
    def since(self) -> datetime:
        return self.summary.unknown_since or self.summary.started

    def or_as_it_was_in(self, earlier: Sequence["_Question"]) -> "_Question":
        """With the facts that were known before, where nobody has answered this time."""
        known = [one.records for one in earlier if one.summary == self.summary]
        return replace(self, records=self.records or next(iter(known), None))

    @property
    def news(self) -> tuple[object, ...]:
        """What a person who watches wants to hear about; ages and looks are none of it."""
        facts = (self.why, self.decided, self.overdue, self.told)
        return (self.summary.step_id, _state(self.summary), *facts)


def unresolved(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    tool: Annotated[str | None, typer.Option(help="Only steps of this tool.")] = None,
    state: Annotated[
        State | None,
        typer.Option(metavar="STATE", help="Only this state; what waits for approval is planned."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Print the list again whenever it changes.")
    ] = False,
) -> None:
    """List what waits for a person, oldest first. `decide` without a verdict asks about one."""
    if watch and as_json:
        raise page.wrong("--watch prints for people, --json for programs: choose one")
    if watch:
        run(_watch(tool, state), interrupted="no longer watched")
    run(_unresolved(as_json, tool, state))


async def _unresolved(as_json: bool, tool: str | None, state: State | None) -> Exit:
    async with session() as surestep:
        found, others = await _found(surestep, tool, state)
        questions = await _with_records(surestep, found)
        now = datetime.now(UTC)
        if as_json:
            page.document([_document(one, now) for one in questions])
        else:
            _print(questions, others, now)
            if questions and surestep.ui_url:
                link = waiting_url(surestep.ui_url, surestep.client.namespace)
                page.labelled("Web UI", link)
    return Exit.DONE


async def _watch(tool: str | None, state: State | None) -> Exit:
    shown: list[tuple[object, ...]] | None = None
    questions: list[_Question] = []
    async with session() as surestep:
        outage = Outage(surestep.client, "The watch goes on")
        for turn in count():
            try:
                found, others = await _found(surestep, tool, state)
                if turn % FACTS_EVERY == 0 or found != [one.summary for one in questions]:
                    asked = await _with_records(surestep, found)
                    questions = [one.or_as_it_was_in(questions) for one in asked]
            except RPCError as error:
                if shown is None:
                    raise
                outage.met(error)
            else:
                outage.over()
                news = [one.news for one in questions]
                if news != shown:
                    shown = news
                    now = datetime.now(UTC)
                    page.line(when(now), "bold")
                    _print(questions, others, now)
                    page.line()
            await asyncio.sleep(WATCH_EVERY)
    raise AssertionError("only an interruption ends a watch")


async def _found(
    surestep: Surestep, tool: str | None, state: State | None
) -> tuple[list[StepSummary], int]:
    """What waits and matches, and how many others wait."""
    waiting = await surestep.unresolved()
    found = [one for one in waiting if tool in (None, *one.tools) and state in (None, one.state)]
    return found, len(waiting) - len(found)


async def _with_records(surestep: Surestep, found: list[StepSummary]) -> list[_Question]:
    turns = asyncio.Semaphore(AT_ONCE)
    silent: set[str] = set()  # queues on which nobody answers; waiting once for that is enough

    async def ask(question: _Question) -> _Question:
        queue = question.summary.task_queue
        async with turns:
            if queue in silent:
                return replace(question, silent=True)
            records = await answered(surestep.client, queue, question.handle.records)
        if records is None:
            silent.add(queue)
            return replace(question, silent=True)
        return replace(question, records=tuple(map(shown, records)))

    questions = [_question(surestep, one) for one in found]
    asked = await asyncio.gather(*(ask(one) for one in questions[:ASKED_ABOUT]))
    return [*asked, *questions[ASKED_ABOUT:]]


def _question(surestep: Surestep, summary: StepSummary) -> _Question:
    handle = surestep.handle(summary.watch_id or summary.step_id)
    return _Question(summary, handle, handle.url)


def reason(records: list[Record]) -> str | None:
    """Why a person is needed: the questions that are open, then what is odd."""
    asked = [one.asked_why for one in records if one.asked and not one.closed]
    return _joined([*asked, *(anomaly.why for one in records for anomaly in one.anomalies)])


def _joined(texts: Sequence[str | None]) -> str | None:
    return "; ".join(dict.fromkeys(text for text in texts if text)) or None


def _print(questions: list[_Question], others: int, now: datetime) -> None:
    if not questions:
        page.aside(
            f"nothing of this kind waits for a person; of other kinds {others} do"
            if others
            else "nothing waits for a person"
        )
        return
    rows = [
        (_state(one.summary), page.age(one.since, now), ",".join(one.summary.tools), _id(one))
        for one in questions
    ]
    page.columns([("STATE", "AGE", "TOOL", "STEP"), *rows])
    for one in questions:
        if one.records is not None:
            page.line()
            page.line(_id(one), "bold")
            _facts(one, now)
    for queue in sorted({one.summary.task_queue for one in questions if one.silent}):
        page.aside(f"{start_one(queue)}; only a worker knows why its steps wait")
    to_decide = [_id(one) for one in questions if one.summary.watch_id is None]
    page.line()
    if to_decide:
        page.line("To see the facts of one and decide it:")
        page.command(f"python starter.py decide {to_decide[0]}")
    if len(to_decide) < len(questions):
        page.line("To see the anomalies of steps that have ended, and take note of them:")
        page.command("python starter.py anomalies")


def _facts(question: _Question, now: datetime) -> None:
    if question.about:
        page.labelled("about", question.about, indent=2)
    if question.why:
        page.labelled("why", question.why, indent=2)
    if question.decided:
        page.labelled("decided", question.decided, indent=2)
    for record in question.open:
        named = f"{record.name}: " if len(question.open) > 1 else ""
        page.labelled("next", f"{named}{next_by_itself(record, now)}", indent=2)
    if question.overdue:
        page.labelled("overdue", f"since {when(question.overdue)}", indent=2, style="bold red")
    if question.told:
        page.labelled("told", ", ".join(question.told), indent=2)


def _id(question: _Question) -> str:
    return question.summary.step_id


def _state(summary: StepSummary) -> str:
    return ",".join([summary.state, *summary.anomalies])


def _document(question: _Question, now: datetime) -> dict[str, Any]:
    plain = question.summary.model_dump(mode="json")
    comes = _joined([next_by_itself(one, now) for one in question.open])
    return {
        **{field: plain[field] for field in ("step_id", "tools", "run", "state", "anomalies")},
        "since": question.since.isoformat(),
        "age_seconds": int((now - question.since).total_seconds()),
        "url": question.url,
        "about": question.about,
        "why": question.why,
        "decided": question.decided,
        "next": comes,
        "overdue": question.overdue.isoformat() if question.overdue else None,
        "told": question.told,
    }
