"""`show`: one step's record as a timeline."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from surestep.cli import document, page, standing
from surestep.cli.addressing import resolve
from surestep.cli.exits import Exit, epilog
from surestep.cli.result import anomaly_in_words, in_words, receipt_in_words
from surestep.cli.session import run, session
from surestep.cli.view import View, look
from surestep.consent import awaits_approval
from surestep.decision import HOW_YOU_KNOW, Verdict
from surestep.facts import Line
from surestep.identity import undo_id
from surestep.narrative import (
    decision_command,
    forbidden,
    looks_next,
    next_by_itself,
    options,
    proven,
    when,
)
from surestep.outcome import Outcome
from surestep.record import Record
from surestep.ruling import verdicts

EPILOG = epilog(Exit.DONE, Exit.NO_SUCH_STEP, more=f"{document.SHAPE}\n\n{document.SHOW_SHAPE}")


def show(
    step: Annotated[
        str, typer.Argument(metavar="STEP", help="The step id; one of its actionIds will do.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Show personal arguments unmasked.")
    ] = False,
) -> None:
    """Show what is known of a step: what is proven, forbidden, and can be decided, and when what
    happened.

    Without a worker it shows what the server alone knows.
    """
    run(_show(step, as_json, reveal))


async def _show(step_id: str, as_json: bool, reveal: bool) -> Exit:
    async with session() as surestep:
        step, _ = await resolve(surestep, step_id)
        view = await look(surestep, step.id, reveal=reveal)
    if as_json:
        page.document(document.of_show(view))
        return Exit.DONE
    _heading(view)
    records = {record.action_id: record for record in view.records}
    for action in view.outcome.actions if view.outcome else ():
        page.line()
        _action(action, records.get(action.action_id), view.open)
    _decisions(view)
    for watch_id in view.watched:
        page.line()
        page.line("An anomaly waits to be acknowledged. Once somebody has seen to it:", "bold")
        page.command(f"python starter.py anomalies --acknowledge {watch_id}")
    return Exit.DONE


def _heading(view: View) -> None:
    page.labelled("step", view.step_id)
    page.labelled("state", view.state, style=page.style_of(view.state))
    step = view.submitted
    if step and step.run:
        page.labelled("run", step.run)
    if step and step.label:
        page.labelled("label", step.label)
    page.labelled("started", when(view.started))
    if view.closed:
        page.labelled("closed", when(view.closed))
    if step and not view.outcome:
        names = ", ".join(one.name or one.tool for one in step.actions)
        page.labelled("actions", names)
    if view.note:
        page.labelled("note", view.note)
    for one in view.said:
        page.labelled("decided", f"{one}; whether it was taken, only a worker knows")
    for one in view.undone:
        page.labelled("undo", f"a step of its own: `python starter.py show {one}`")
    if view.url:
        page.labelled("Web UI", view.url)


def _action(action: Outcome, record: Record | None, goes_on: bool) -> None:
    page.labelled("action", action.action_id)
    page.labelled("tool", action.tool, indent=2)
    page.labelled("state", in_words(action), indent=2, style=page.style_of(action.state))
    if action.receipt:
        page.labelled("receipt", receipt_in_words(action.receipt), indent=2)
    if record:
        _standing(record, goes_on)
    for anomaly in action.anomalies:
        page.labelled("anomaly", anomaly_in_words(anomaly), indent=2, style="bold red")
    day = ""
    for line in action.evidence:
        if (today := f"{line.at:%Y-%m-%d}") != day:
            day = today
            page.line()
            page.line(f"  {day}")
        page.labelled(f"{line.at:%H:%M:%S}", _in_words(line), indent=2)


def _standing(record: Record, goes_on: bool) -> None:
    now = datetime.now(UTC)
    waits = standing.decided(record) if goes_on else None
    if waits:
        page.labelled("decided", waits, indent=2, style="bold")
    if awaits_approval(record) and goes_on and record.closed is None:
        page.labelled("arguments", standing.arguments(record), indent=2)
    page.labelled("proven", proven(record), indent=2)
    page.labelled("forbidden", forbidden(record), indent=2)
    if record.closed:
        page.labelled("next look", looks_next(record, now), indent=2)
    elif goes_on:
        page.labelled("next", next_by_itself(record, now), indent=2)
    if goes_on and record.overdue and not record.closed:
        what = "it is decided and not done" if record.decision else "nobody has answered"
        since = f"{what}, overdue since {when(record.overdue)}"
        page.labelled("overdue", since, indent=2, style="bold red")
    if record.told:
        page.labelled("told", ", ".join(record.told), indent=2)
    if goes_on:
        page.labelled("decisions", f"{options(record)} (version {record.version})", indent=2)


def _in_words(line: Line) -> str:
    if line.count == 1:
        return line.text
    return f"{line.text} (×{line.count}, until {when(line.until or line.at)})"


def _decisions(view: View) -> None:
    for record in view.records if view.open else ():
        accepted = verdicts(record)
        if accepted:
            page.line()
            page.line(f"To decide {record.name}, one of:", "bold")
        for verdict in accepted:
            page.command(decision_command(view.step_id, record, verdict))
    for record in view.records if not view.open else ():
        if Verdict.UNDO in verdicts(record) and undo_id(record.action_id) not in view.undone:
            page.line()
            page.line(f"To undo {record.name}:", "bold")
            page.command(f'python starter.py undo {record.action_id} --note "{HOW_YOU_KNOW}"')
