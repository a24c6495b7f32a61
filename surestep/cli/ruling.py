"""What becomes of a decision, and how it is told."""

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
from surestep.outage import told_as
from surestep.protocol import DECIDE


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


def told(ruling: Ruling) -> Exit:
    """Print a ruling."""
    taken = "" if ruling.taken else "not taken: "
    page.labelled("ruling", f"{taken}{ruling.why}", style="" if ruling.taken else "yellow")
    page.labelled("state", ruling.state, style=page.style_of(ruling.state))
    if not ruling.taken and "accept_duplicate" in ruling.why:
        page.aside("here accept_duplicate is the option --accept-duplicate")
    return Exit.DONE if ruling.taken else Exit.NOT_TAKEN


def too_late(decision: Decision, target: str, ruling: Ruling) -> Exit:
    """Print the ruling about a step that has ended, and what can still be done."""
    code = told(ruling)
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
