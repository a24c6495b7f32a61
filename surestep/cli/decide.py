"""`decide`: a person's decision about an action that nobody else can settle."""

import asyncio
import getpass
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import typer
from pydantic import ValidationError
from temporalio.client import WorkflowExecutionDescription, WorkflowExecutionStatus

from surestep.cli import page, reason, standing
from surestep.cli.addressing import check, record_of, records_of, resolve
from surestep.cli.exits import Exit, epilog
from surestep.cli.interview import ask, choose_action, choose_step, says
from surestep.cli.keyboard import leaving_nothing_behind, somebody_there, text
from surestep.cli.keys import signed, signing_key
from surestep.cli.moments import moment
from surestep.cli.ruling import rule, show_what_is_newer, state_afterwards, told, too_late
from surestep.cli.session import run, session
from surestep.cli.usage import in_plain_words
from surestep.cli.workers import start_one
from surestep.client import Surestep
from surestep.decision import Decision, Verdict
from surestep.errors import describe_validation
from surestep.narrative import MEANING, decision_command
from surestep.record import Record
from surestep.ruling import HARMLESS_UNSEEN, lacks_its_version
from surestep.settings import Settings

EPILOG = epilog(
    Exit.DONE,
    Exit.NO_SUCH_STEP,
    Exit.OPEN,
    Exit.NOT_TAKEN,
    Exit.ENDED,
    more="Verdicts:\n" + "\n".join(f"  {one:<14} {MEANING[one]}" for one in Verdict),
)

INTERRUPTED = "nothing more is sent"


def decide(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="STEP[/ACTION]", help="The step id; with several actions, also which."
        ),
    ] = None,
    verdict: Annotated[
        Verdict | None,
        typer.Argument(
            metavar="VERDICT",
            help="One of those below. Left out: you are asked, after the facts.",
        ),
    ] = None,
    note: Annotated[
        str, typer.Option(help="How you know. Recorded; what settles an action needs it.")
    ] = "",
    by: Annotated[
        str | None, typer.Option(help="Who decides. Recorded; your user name by default.")
    ] = None,
    receipt_id: Annotated[
        str | None, typer.Option("--id", help="With confirm: the service's own id of the effect.")
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(help="With keep_looking: when to ask again, as 24h, 3d or an ISO time."),
    ] = None,
    version: Annotated[
        int | None,
        typer.Option(help="The record version that you saw; refused if there is a newer one."),
    ] = None,
    decision_id: Annotated[
        str | None, typer.Option(help="A decision of the same id is taken once.")
    ] = None,
    accept_duplicate: Annotated[
        bool,
        typer.Option(
            "--accept-duplicate", help="Go on even where no lookup can rule out a first effect."
        ),
    ] = False,
    key: Annotated[
        Path | None,
        typer.Option(help="Sign with this private key; SURESTEP_SIGNING_KEY by default."),
    ] = None,
) -> None:
    """Decide an action. Without a verdict, shows the facts and asks step by step.

    Before retry and abandon the service is looked at once more. Whatever sends, or settles for
    good, names the version that you saw: without --version you are shown the facts and asked, and
    a script is told the version. confirm, retry, abandon and leave_unknown need a --note. Where no
    worker answers within five seconds the decision is sent as a signal, which is kept until one
    runs.
    """
    said = {
        "by": user() if by is None else by,
        "note": note,
        "id": decision_id or uuid4().hex,
        "version": version,
        "receipt_id": receipt_id,
        "until": moment(until) if until else None,
        "accept_duplicate": accept_duplicate,
    }
    if receipt_id and verdict is not Verdict.CONFIRM:
        raise page.wrong("--id belongs to confirm: leave it out")
    if verdict is Verdict.KEEP_LOOKING and until is None:
        raise page.wrong("keep_looking needs --until, such as --until 24h")
    if verdict is not None:
        decision = decision_of(said | {"verdict": verdict})
        unsaid = reason.missing(target or "", decision, by=by, decision_id=decision_id, key=key)
        if unsaid is not None:
            raise typer.Exit(unsaid)
        run(_decide(target or "", decision, key), interrupted=INTERRUPTED)
    if not somebody_there():
        raise page.wrong(
            f"name a verdict, one of {', '.join(Verdict)}, or run it in a terminal to be asked"
        )
    run(_interview(target, said, key), interrupted=INTERRUPTED)


@dataclass(frozen=True)
class _Question:
    """What is decided: an action of a step, and what is known of it."""

    step: WorkflowExecutionDescription
    decision: Decision
    record: Record | None


def decision_of(said: dict[str, Any]) -> Decision:
    try:
        return Decision.model_validate(said)
    except ValidationError as error:
        raise page.wrong(in_plain_words(describe_validation(error))) from error


async def _interview(target: str | None, said: dict[str, Any], key: Path | None) -> Exit:
    async with session() as surestep:
        asked = await leaving_nothing_behind(lambda: _asked(surestep, target, said))
        if isinstance(asked, _Question):
            return await send(surestep, asked.step, asked.decision, asked.record, key)
        return Exit.NOT_TAKEN if asked is None else asked


async def _asked(
    surestep: Surestep, target: str | None, said: dict[str, Any]
) -> _Question | Exit | None:
    """What the person says; an exit code where there is nothing to say it about."""
    target = target or await choose_step(surestep)
    if target is None:
        return Exit.DONE
    step, action = await resolve(surestep, target)
    if ended(step):
        return told(await surestep.too_late(step.id, action), step.id)
    if action:
        await check(surestep, step.id, action)
    records = await records_of(surestep, step, action)
    if records is None:
        page.aside(f"{start_one(step.task_queue)}; without one the facts cannot be shown")
        return None
    record = await choose_action(records)
    if record is None:
        for one in records:
            standing.facts(one)
        page.aside("no decision is accepted now")
        return None
    by = said["by"] or await text("Your name", needed=True, most=200)
    answer = await ask(record, by, said["note"])
    if answer is None:
        return None
    given = said | asdict(answer) | {"by": by, "action": record.name}
    return _Question(step, decision_of(given), record)


async def _decide(target: str, decision: Decision, key: Path | None) -> Exit:
    async with session() as surestep:
        step, action = await resolve(surestep, target)
        if ended(step):
            return too_late(decision, target, await surestep.too_late(step.id, action))
        await check(surestep, step.id, action)
        decision = decision.model_copy(update={"action": action})
        unseen = decision.version is None and decision.verdict not in HARMLESS_UNSEEN
        needed = unseen or signing_key(Settings.from_environment(), key)
        record = await record_of(surestep, step, action) if needed else None
        if unseen and (record is None or lacks_its_version(record, decision)):
            asked = await leaving_nothing_behind(lambda: _as_seen(step, decision, record))
            if not isinstance(asked, Decision):
                return Exit.NOT_TAKEN if asked is None else asked
            decision = asked
        return await send(surestep, step, decision, record, key)


async def _as_seen(
    step: WorkflowExecutionDescription, decision: Decision, record: Record | None
) -> Decision | Exit | None:
    """The decision on what is shown now; the exit code where nobody is there to look at it."""
    names = f"{decision.verdict} names the version that it answers, by --version"
    if record is None:
        page.aside(f"{names}, and only a worker knows that: {start_one(step.task_queue)}")
        return Exit.INVALID
    if somebody_there():
        if not await says(record, decision):
            page.aside("nothing was sent")
            return None
        seen = {"version": record.version, "input_hash": record.input_hash}
        return decision.model_copy(update=seen)
    standing.facts(record)
    page.aside(f"{names}. If you say so of what you see here:")
    command = decision_command(step.id, record, decision.verdict, decision)
    page.command(command, to_copy_from_stderr=True)
    return Exit.INVALID


async def send(
    surestep: Surestep,
    step: WorkflowExecutionDescription,
    decision: Decision,
    record: Record | None,
    key: Path | None,
) -> Exit:
    """Sign it where there is a key, send it, and say what became of it."""
    decision = signed(decision, record, Settings.from_environment(), key)
    try:
        ruling = await rule(surestep, step, decision)
    except asyncio.CancelledError:
        page.aside(f"whether the decision was taken, `python starter.py show {step.id}` says")
        raise
    if ruling is None:
        page.line(f"sent {decision.verdict} for {decision.action or step.id} as a signal")
        page.aside(
            f"{start_one(step.task_queue)}. It will find the decision in the step's history; "
            f"whether it is taken is then in the record: `python starter.py show {step.id}`"
        )
        return Exit.OPEN
    state = await state_afterwards(surestep, step, decision, ruling) if ruling.taken else None
    code = told(ruling, step.id, state)
    if ruling.taken:
        page.aside(f"what becomes of it: `python starter.py show {step.id}`")
    if not ruling.taken and decision.version is not None:
        await show_what_is_newer(surestep, step, decision)
    return code


def ended(step: WorkflowExecutionDescription) -> bool:
    """Whether nobody takes decisions about it any more."""
    return step.status is not WorkflowExecutionStatus.RUNNING


def user() -> str:
    """The name under which this person is logged in; empty where there is none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a user id without a name
        return ""
