"""Which step and action an operator means."""

from temporalio.client import WorkflowExecutionDescription

from surestep.cli.view import find, submission
from surestep.cli.workers import answered
from surestep.client import Surestep
from surestep.errors import InvalidArguments, NoSuchStep
from surestep.identity import undo_id
from surestep.record import Record


async def resolve(
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


async def check(surestep: Surestep, step_id: str, action: str | None) -> None:
    """Refuse what a signal would carry to nobody: an action that the step does not have."""
    step = await submission(surestep, step_id)
    if step is None:
        return
    names = [one.name or one.tool for one in step.actions]
    if action is None and len(names) > 1:
        raise InvalidArguments(
            f"step {step_id!r} has the actions {', '.join(names)}: name one, "
            f"as in {step_id}/{names[0]}"
        )
    if action and action not in {*names, *map(undo_id, names)}:
        raise InvalidArguments(
            f"step {step_id!r} has no action {action!r}; it has {', '.join(names)}"
        )


async def records_of(
    surestep: Surestep, step: WorkflowExecutionDescription, action: str | None
) -> list[Record] | None:
    """What is known of the action, or of all of the step; None: no worker answers.

    Raises InvalidArguments where the step has none of this name yet.
    """
    ask = surestep.handle(step.id).records
    records = await answered(surestep.client, step.task_queue, ask)
    if records is None:
        return None
    found = [one for one in records if action in (one.name, one.action_id, None)]
    if not found:
        what = f"has no action {action!r} yet" if action else "has not planned its actions yet"
        raise InvalidArguments(f"step {step.id!r} {what}: `python starter.py show {step.id}`")
    return found


async def record_of(
    surestep: Surestep, step: WorkflowExecutionDescription, action: str | None
) -> Record | None:
    """What is known of the action, or of the one that is open; None: no worker answers."""
    records = await records_of(surestep, step, action) or []
    still_open = [one for one in records if one.closed is None]
    return next(iter(still_open or records), None)
