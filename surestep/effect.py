"""The confirmed effect of an ended step's action, and the watches that may have found it."""

from temporalio.client import Client, WorkflowExecution

from surestep.errors import NothingToUndo
from surestep.evidence import Receipt, State
from surestep.handle import StepHandle
from surestep.outcome import StepOutcome
from surestep.protocol import WATCH_WORKFLOW


async def confirmed_effect(client: Client, outcome: StepOutcome, name: str) -> Receipt:
    """What was confirmed of an action, by its step or by the watch of it (R15).

    Raises NothingToUndo.
    """
    one = outcome[name]
    if one.state is State.COMPENSATED:
        why = f"is undone already ({one.why}): there is nothing to undo"
        raise NothingToUndo(f"{one.action_id} {why}")
    if one.state is State.CONFIRMED and one.receipt:
        return one.receipt
    for watch in await watches(client, outcome.step_id, also_ended=True):
        for record in await StepHandle(client, watch.id).records():
            if record.name == name and record.confirmation:
                return record.confirmation
    raise NothingToUndo(f"{one.action_id} is {one.state} ({one.why}): there is nothing to undo")


async def watches(
    client: Client, step_id: str, *, also_ended: bool = False
) -> list[WorkflowExecution]:
    """The workflows that watch an ended step."""
    status = "('Running', 'Completed')" if also_ended else "('Running')"
    query = (
        f"WorkflowType = '{WATCH_WORKFLOW}' AND ExecutionStatus IN {status} AND "
        f"WorkflowId STARTS_WITH '{step_id}/watch-'"
    )
    return [run async for run in client.list_workflows(query, limit=100)]
