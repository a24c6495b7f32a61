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
from surestep.connection import waiting_url
from surestep.handle import StepHandle
from surestep.record import Record
from surestep.summary import StepSummary

ASKED_ABOUT = 50
"""How many of the oldest are asked for their reason: each costs a query."""

AT_ONCE = 8

EPILOG = epilog(
    Exit.DONE,
    Exit.NOT_SET_UP,
    more=(
        "With --json, stdout is a list of objects, oldest first:\n"
        "  step_id, tools, run, state, anomalies, since, age_seconds, url\n"
        "  why        null where no worker answers"
    ),
)


@dataclass(frozen=True)
class _Question:
    """A step that waits for a person. `handle`: who knows why, the step or its late watch."""

    summary: StepSummary
    handle: StepHandle
    url: str | None
    why: str | None = None

    @property
    def since(self) -> datetime:
        return self.summary.unknown_since or self.summary.started


def unresolved(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List what waits for a person, oldest first. `show STEP` says how to decide."""
    run(_unresolved(as_json))


async def _unresolved(as_json: bool) -> Exit:
    async with session() as surestep:
        questions = [_question(surestep, one) for one in await surestep.unresolved()]
        questions = await _with_reasons(surestep, questions)
    now = datetime.now(UTC)
    if as_json:
        page.document([_document(one, now) for one in questions])
    elif not questions:
        page.aside("nothing waits for a person")
    else:
        _table(questions, now)
        if surestep.ui_url:
            page.line()
            page.labelled("Web UI", waiting_url(surestep.ui_url, surestep.client.namespace))
    return Exit.DONE


def _question(surestep: Surestep, summary: StepSummary) -> _Question:
    handle = surestep.handle(summary.watch_id or summary.step_id)
    return _Question(summary, handle, handle.url)


async def _with_reasons(surestep: Surestep, questions: list[_Question]) -> list[_Question]:
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
        return replace(question, why=reason(records))

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
    page.line()
    for one in questions:
        if one.why:
            page.labelled("why", f"{one.summary.step_id}: {one.why}")


def _state(summary: StepSummary) -> str:
    return ",".join([summary.state, *summary.anomalies])


def _document(question: _Question, now: datetime) -> dict[str, Any]:
    plain = question.summary.model_dump(mode="json")
    return {
        **{field: plain[field] for field in ("step_id", "tools", "run", "state", "anomalies")},
        "since": question.since.isoformat(),
        "age_seconds": int((now - question.since).total_seconds()),
        "why": question.why,
        "url": question.url,
    }
