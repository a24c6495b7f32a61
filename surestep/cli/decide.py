"""`decide`: a person's decision about an action that nobody else can settle."""

import getpass
from typing import Annotated
from uuid import uuid4

import typer
from pydantic import ValidationError
from temporalio.client import WorkflowExecutionDescription, WorkflowUpdateFailedError
from temporalio.service import RPCError

from surestep.cli import page
from surestep.cli.exits import Exit, epilog
from surestep.cli.failure import no_execution
from surestep.cli.session import run, session
from surestep.cli.view import find, submission
from surestep.cli.workers import answered, start_one
from surestep.client import Surestep
from surestep.decision import Decision, Ruling, Verdict
from surestep.errors import InvalidArguments, NoSuchStep, describe_validation
from surestep.identity import undo_id
from surestep.outage import told_as
from surestep.protocol import DECIDE

EPILOG = epilog(Exit.DONE, Exit.NO_SUCH_STEP, Exit.OPEN, Exit.NOT_TAKEN, Exit.ENDED)


def decide(
    target: Annotated[
        str,
        typer.Argument(
            metavar="STEP[/ACTION]", help="The step id; with several actions, also which."
        ),
    ],
    verdict: Annotated[
        Verdict,
        typer.Argument(
            metavar="VERDICT", help="It happened; it did not, do it again; it did not, leave it."
        ),
    ],
    note: Annotated[str, typer.Option(help="How you know. Recorded.")] = "",
    by: Annotated[
        str | None, typer.Option(help="Who decides. Recorded; your user name by default.")
    ] = None,
    receipt_id: Annotated[
        str | None, typer.Option("--id", help="With confirm: the service's own id of the effect.")
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
) -> None:
    """Decide an action that is unknown: confirm, retry or abandon.

    Before retry and abandon the service is looked at once more. Where no worker answers within
    five seconds the decision is sent as a signal, which is kept until one runs.
    """
    if receipt_id and verdict is not Verdict.CONFIRM:
        raise typer.BadParameter(f"--id belongs to confirm, not to {verdict}: leave it out")
    try:
        decision = Decision(
            verdict=verdict,
            by=_user() if by is None else by,
            note=note,
            id=decision_id or uuid4().hex,
            version=version,
            receipt_id=receipt_id,
            accept_duplicate=accept_duplicate,
        )
    except ValidationError as error:
        raise typer.BadParameter(describe_validation(error)) from error
    run(_decide(target, decision))


async def _decide(target: str, decision: Decision) -> Exit:
    async with session() as surestep:
        unknown = (
            "Whether the decision has arrived is not known: repeat the command with "
            f"--decision-id {decision.id}, and it is taken once"
        )
        with told_as(surestep.client, unknown):
            step, action = await _resolve(surestep, target)
            await _check(surestep, step.id, action)
            decision = decision.model_copy(update={"action": action})
            ruling = await _rule(surestep, step, decision)
    if ruling is None:
        page.line(f"sent {decision.verdict} for {target} as a signal")
        page.aside(
            f"{start_one(step.task_queue)}. It will find the decision in the step's history; "
            f"whether it is taken is then in the record: `python starter.py show {step.id}`"
        )
        return Exit.OPEN
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


async def _resolve(
    surestep: Surestep, target: str
) -> tuple[WorkflowExecutionDescription, str | None]:
    """Step and action. A step id may hold slashes itself, so what exists decides."""
    step_id, action = target, ""
    for _ in range(3):  # step, step/action, step/action/undo
        step = await find(surestep, step_id) if step_id else None
        if step:
            return step, action or None
        step_id, _, last = step_id.rpartition("/")
        action = f"{last}/{action}".rstrip("/")
    raise NoSuchStep(
        f"there is no step {target!r}, nor one of which this could be an action: "
        "`python starter.py unresolved` shows what can be decided"
    )


async def _check(surestep: Surestep, step_id: str, action: str | None) -> None:
    """Refuse what a signal would carry to nobody: an action that the step does not have."""
    step = await submission(surestep, step_id)
    if step is None:
        return
    names = [one.name or one.tool for one in step.actions]
    if action is None and len(names) > 1:
        raise InvalidArguments(
            f"step {step_id!r} has the actions {', '.join(names)}: name one, "
            f"as in `decide {step_id}/{names[0]} …`"
        )
    if action and action not in {*names, *map(undo_id, names)}:
        raise InvalidArguments(
            f"step {step_id!r} has no action {action!r}; it has {', '.join(names)}"
        )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a user id without a name
        return ""
