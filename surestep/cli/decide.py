"""`decide`: a person's decision about an action that nobody else can settle."""

import getpass
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import typer
from pydantic import ValidationError
from temporalio.client import WorkflowExecutionDescription, WorkflowUpdateFailedError
from temporalio.service import RPCError

from surestep.cli import page
from surestep.cli.addressing import check, record_of, resolve
from surestep.cli.exits import Exit, epilog
from surestep.cli.failure import no_execution
from surestep.cli.interview import ask, can_ask, choose_step
from surestep.cli.keys import signed, signing_key
from surestep.cli.moments import moment
from surestep.cli.session import run, session
from surestep.cli.workers import answered, start_one
from surestep.client import Surestep
from surestep.decision import Decision, Ruling, Verdict
from surestep.errors import InvalidArguments, describe_validation
from surestep.narrative import MEANING
from surestep.protocol import DECIDE
from surestep.record import Record
from surestep.settings import Settings

EPILOG = epilog(
    Exit.DONE,
    Exit.NO_SUCH_STEP,
    Exit.OPEN,
    Exit.NOT_TAKEN,
    Exit.ENDED,
    more="Verdicts:\n" + "\n".join(f"  {one:<14} {MEANING[one]}" for one in Verdict),
)


def decide(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="STEP[/ACTION]", help="The step id; with several actions, also which."
        ),
    ] = None,
    verdict: Annotated[
        Verdict | None,
        typer.Argument(metavar="VERDICT", help="One of those below. Left out: you are asked."),
    ] = None,
    note: Annotated[str, typer.Option(help="How you know. Recorded.")] = "",
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

    Before retry and abandon the service is looked at once more. Where no worker answers within
    five seconds the decision is sent as a signal, which is kept until one runs.
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
        raise typer.BadParameter("--id belongs to confirm: leave it out")
    if verdict is not None:
        decision = _decision(said | {"verdict": verdict})
        run(_decide(target or "", decision, key))
    if not can_ask():
        raise typer.BadParameter(
            f"name a verdict, one of {', '.join(Verdict)}, or run it in a terminal to be asked"
        )
    run(_interview(target, said, key))


def _decision(said: dict[str, Any]) -> Decision:
    try:
        return Decision.model_validate(said)
    except ValidationError as error:
        raise typer.BadParameter(describe_validation(error)) from error


async def _interview(target: str | None, said: dict[str, Any], key: Path | None) -> Exit:
    async with session() as surestep:
        target = target or await choose_step(surestep)
        if target is None:
            page.aside("nothing waits for a person")
            return Exit.DONE
        step, action = await resolve(surestep, target)
        await check(surestep, step.id, action)
        record = await record_of(surestep, step, action)
        if record is None:
            page.aside(f"{start_one(step.task_queue)}; without one the facts cannot be shown")
            return Exit.OPEN
        answer = await ask(record)
        if answer is None:
            return Exit.NOT_TAKEN
        given = {name: value for name, value in asdict(answer).items() if value or name != "note"}
        decision = _decision(said | given | {"action": record.name})
        return await _send(surestep, step, decision, record, key)


async def _decide(target: str, decision: Decision, key: Path | None) -> Exit:
    async with session() as surestep:
        step, action = await resolve(surestep, target)
        await check(surestep, step.id, action)
        decision = decision.model_copy(update={"action": action})
        needed = signing_key(Settings.from_environment(), key)
        record = await record_of(surestep, step, action) if needed else None
        return await _send(surestep, step, decision, record, key)


async def _send(
    surestep: Surestep,
    step: WorkflowExecutionDescription,
    decision: Decision,
    record: Record | None,
    key: Path | None,
) -> Exit:
    """Sign it where there is a key, send it, and say what became of it."""
    decision = signed(decision, record, Settings.from_environment(), key)
    ruling = await _rule(surestep, step, decision)
    if ruling is None:
        page.line(f"sent {decision.verdict} for {decision.action or step.id} as a signal")
        page.aside(
            f"{start_one(step.task_queue)}. It will find the decision in the step's history; "
            f"whether it is taken is then in the record: `python starter.py show {step.id}`"
        )
        return Exit.OPEN
    return told(ruling)


def told(ruling: Ruling) -> Exit:
    """Print a ruling."""
    taken = "" if ruling.taken else "not taken: "
    page.labelled("ruling", f"{taken}{ruling.why}", style="" if ruling.taken else "yellow")
    page.labelled("state", ruling.state, style=page.style_of(ruling.state))
    return Exit.DONE if ruling.taken else Exit.NOT_TAKEN


async def _rule(
    surestep: Surestep, step: WorkflowExecutionDescription, decision: Decision
) -> Ruling | None:
    """The ruling; None: no worker answered, and the decision was left as a signal.

    The server may still deliver the update that was given up; the decision's id makes one of it
    and of the signal.
    """
    handle = surestep.client.get_workflow_handle(step.id)
    message = decision.model_dump(mode="json", exclude_none=True)
    try:
        ruling = await answered(
            surestep.client,
            step.task_queue,
            lambda: handle.execute_update(DECIDE, message, result_type=Ruling),
        )
        if ruling is None:
            await handle.signal(DECIDE, message)
        return ruling
    except WorkflowUpdateFailedError as error:
        raise InvalidArguments(str(error.cause)) from error
    except RPCError as error:
        if not no_execution(error):
            raise
    outcome = await surestep.handle(step.id).outcome()
    why = f"too late: the step is already settled as {outcome.state}"
    return Ruling(taken=False, why=why, version=0, state=outcome.state.value)


def user() -> str:
    """The name under which this person is logged in; empty where there is none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a user id without a name
        return ""
