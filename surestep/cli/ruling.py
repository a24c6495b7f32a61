"""What becomes of a decision, and how it is told."""

from typing import Final

from temporalio.client import WorkflowExecutionDescription, WorkflowUpdateFailedError
from temporalio.service import RPCError

from surestep.answer import NOT_NOW, refusal
from surestep.cli import page, standing
from surestep.cli.addressing import record_of
from surestep.cli.exits import Exit
from surestep.cli.failure import no_execution
from surestep.cli.workers import answered
from surestep.client import Surestep
from surestep.decision import Decision, Ruling, Verdict
from surestep.errors import InvalidArguments
from surestep.evidence import State
from surestep.narrative import decision_command
from surestep.outage import told_as
from surestep.protocol import DECIDE
from surestep.record import Record
from surestep.ruling import ACCEPTS, verdicts

NOT_YET: Final = "until it is carried out"


async def rule(
    surestep: Surestep, step: WorkflowExecutionDescription, decision: Decision
) -> Ruling | None:
    """The ruling; None: no worker answered, and the decision was left as a signal.

    The server may still deliver the update that was given up; the decision's id makes one of it
    and of the signal.
    """
    unknown = (
        "Whether the decision has arrived is not known: repeat the command with "
        f"--decision-id {decision.id}, and it is taken once"
    )
    with told_as(surestep.client, unknown):
        return await _rule(surestep, step, decision)


async def _rule(
    surestep: Surestep, step: WorkflowExecutionDescription, decision: Decision
) -> Ruling | None:
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
        return refusal(error)
    except RPCError as error:
        if no_execution(error):
            return await surestep.too_late(step.id, decision.action)
        if not any(words in error.message for words in NOT_NOW):
            raise
    await handle.signal(DECIDE, message)
    return None


def told(ruling: Ruling, step_id: str, state: str | None = None) -> Exit:
    """Print a ruling. `state`: as it is once the decision was taken, in words."""
    taken = "" if ruling.taken else "not taken: "
    see = f": see `python starter.py show {step_id}`" if ACCEPTS in ruling.why else ""
    page.labelled("ruling", f"{taken}{ruling.why}{see}", style="" if ruling.taken else "yellow")
    state = state or ruling.state
    page.labelled("state", state, style=page.style_of(state.partition(" ")[0]))
    if not ruling.taken and "accept_duplicate" in ruling.why:
        page.aside("here accept_duplicate is the option --accept-duplicate")
    return Exit.DONE if ruling.taken else Exit.NOT_TAKEN


def too_late(decision: Decision, target: str, ruling: Ruling) -> Exit:
    """Print the ruling about a step that has ended, and what can still be done."""
    code = told(ruling, target)
    if decision.verdict is Verdict.UNDO:
        page.aside("what has ended is undone by a command of its own:")
        page.command(f"python starter.py undo {target}", to_copy_from_stderr=True)
    return code


async def show_what_is_newer(
    surestep: Surestep, step: WorkflowExecutionDescription, decision: Decision
) -> None:
    """The facts as they are now, where the decision answers older ones."""
    record = await record_of(surestep, step, decision.action)
    if record and record.version != decision.version:
        page.line()
        page.line(f"This is version {record.version}, as it stands now:", "bold")
        standing.facts(record)
        if decision.verdict in verdicts(record):
            page.aside(f"If you still say {decision.verdict} of what you see here:")
            command = decision_command(step.id, record, decision.verdict, decision)
            page.command(command, to_copy_from_stderr=True)


async def state_afterwards(
    surestep: Surestep, step: WorkflowExecutionDescription, decision: Decision, ruling: Ruling
) -> str:
    """The state once the decision was taken; what still has to be done for it is said as well."""
    try:
        record = await record_of(surestep, step, decision.action)
    except (RPCError, InvalidArguments):  # it was taken all the same
        record = None
    if record is None:
        settles = decision.verdict is not Verdict.KEEP_LOOKING
        return f"{ruling.state} {NOT_YET}" if settles else ruling.state
    return f"{record.state} {NOT_YET}" if _is_pending(record) else record.state.value


def _is_pending(record: Record) -> bool:
    if record.undo_asked and record.state is State.CONFIRMED:
        return True
    approved = record.approval and record.asked is None and record.state is State.PLANNED
    return record.closed is None and bool(record.decision or approved)
