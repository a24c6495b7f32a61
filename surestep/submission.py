"""Starting a step, or attaching to it: what exists under its id, and what it leaves open."""

from temporalio.client import WorkflowExecution, WorkflowExecutionStatus
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

from surestep.errors import StepConflict
from surestep.handle import StepHandle
from surestep.protocol import MEMO_HASH, STEP_WORKFLOW, EarlierStep, StepInput

CLOSED_WITHOUT_OUTCOME = (
    WorkflowExecutionStatus.FAILED,
    WorkflowExecutionStatus.TERMINATED,
    WorkflowExecutionStatus.TIMED_OUT,
    WorkflowExecutionStatus.CANCELED,
)


async def submit(handle: StepHandle, step: StepInput, task_queue: str) -> None:
    """Start the step; if it exists, attach to it. Raises StepConflict if it has other input."""
    try:
        await _start(handle, step, task_queue, WorkflowIDReusePolicy.REJECT_DUPLICATE)
    except WorkflowAlreadyStartedError:
        await _attach(handle, step, task_queue)


async def _start(
    handle: StepHandle, step: StepInput, task_queue: str, reuse: WorkflowIDReusePolicy
) -> None:
    await handle.client.start_workflow(
        STEP_WORKFLOW,
        step,
        id=handle.step_id,
        task_queue=task_queue,
        id_reuse_policy=reuse,
        id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        memo={MEMO_HASH: step.hash},
        static_summary=_static_summary(step),
    )


async def _attach(handle: StepHandle, step: StepInput, task_queue: str) -> None:
    """The step exists: is it the same, and has it an outcome?"""
    existing = await handle.describe()
    sent_nothing = await handle.sent_nothing(existing.status)
    binding = await handle.last_that_may_have_sent() if sent_nothing else existing
    if binding:
        recorded = await binding.memo_value(MEMO_HASH, default=None)
        if recorded != step.hash:
            differences = (await handle.submitted(binding.run_id)).differences(step)
            if differences:
                raise StepConflict(handle.step_id, differences)
    if existing.status in CLOSED_WITHOUT_OUTCOME:
        await _start_again(handle, step, task_queue, binding)


async def _start_again(
    handle: StepHandle, step: StepInput, task_queue: str, binding: WorkflowExecution | None
) -> None:
    """The new run is told of the old one: what that one sent is not known here."""
    if binding:
        since = await handle.began(binding)
        name = binding.status.name.lower() if binding.status else "ended"
        why = f"an earlier run of this step was {name} without an outcome"
        step = step.model_copy(update={"earlier": EarlierStep(since=since, why=why)})
    try:
        await _start(handle, step, task_queue, WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY)
    except WorkflowAlreadyStartedError:  # somebody else was quicker with the same step
        await _attach(handle, step, task_queue)


def _static_summary(step: StepInput) -> str:
    tools = ", ".join(action.tool for action in step.actions)
    return (f"{tools} · {step.label}" if step.label else tools)[:200]
