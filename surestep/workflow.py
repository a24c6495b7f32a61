"""Steps for an agent that is a workflow itself: a step is a child that outlives its parent.

Import it, and the module of your tools, with `workflow.unsafe.imports_passed_through()`.
"""

import asyncio
from datetime import timedelta
from typing import Any, Final, Literal

from temporalio import workflow
from temporalio.common import RetryPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    ChildWorkflowError,
    WorkflowAlreadyStartedError,
    is_cancelled_exception,
)
from temporalio.workflow import ChildWorkflowCancellationType, ParentClosePolicy

from surestep import errors
from surestep.errors import StepConflict, StepFailed, SurestepError
from surestep.outcome import StepOutcome
from surestep.protocol import (
    ATTEND,
    ENTER,
    MEMO_HASH,
    NOTHING_SENT,
    STEP_WORKFLOW,
    TASK_QUEUE,
    TEXT_LIMIT,
    EnterOrder,
    StepInput,
)
from surestep.submission import static_summary, submission
from surestep.tool import Action

# Between two looks nobody waits: not a worker, not a call to the server, and no history grows.
_LOOKS: Final = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    backoff_coefficient=1.5,
    maximum_interval=timedelta(seconds=30),
)
_LOOK_LIMIT: Final = timedelta(seconds=30)

_EXISTED: Final = "existed"
_ENDED: Final = "ended"


async def run_step(
    step_id: str,
    *actions: Action,
    run: str | None = None,
    label: str = "",
    requester: str = "",
    mode: Literal["sequential", "parallel"] = "sequential",
    undo_on_failure: bool = False,
    task_queue: str = TASK_QUEUE,
) -> StepOutcome:
    """Perform the step as a child workflow, or attach to it if it exists; wait until it is settled.

    step_id     names the intent: the same in a retry, after a reset, and from another workflow
    run         the agent's run, for lists; None: this workflow's id
    task_queue  where Surestep's workers are
    The other parameters are those of `Surestep.run`.

    The step belongs to nobody: it goes on whatever becomes of this workflow, and a cancellation,
    which ends the wait, leaves it alone. To ask the step itself to stop, cancel it:
    `workflow.get_external_workflow_handle(step_id).cancel()`. A limit is `asyncio.timeout(…)`
    around the call; call again to wait on.

    Raises ApplicationError, so that whoever does not catch it ends and is not stuck. Its `type` is
    InvalidStepId, InvalidArguments, UnknownTool, StepConflict (the step exists with other input;
    nothing was sent), StepFailed (it was ended from outside) or NoSuchStep (it was deleted
    meanwhile).
    """
    try:
        step = submission(
            step_id,
            actions,
            run=workflow.info().workflow_id[:TEXT_LIMIT] if run is None else run,
            label=label,
            requester=requester,
            mode=mode,
            undo_on_failure=undo_on_failure,
        )
        return await _outcome(step_id, step, task_queue)
    except SurestepError as error:
        # What ended from outside can be submitted again, by a retry of this workflow too.
        ends = not isinstance(error, StepFailed)
        kind = type(error).__name__
        raise ApplicationError(str(error), type=kind, non_retryable=ends) from None


async def _outcome(step_id: str, step: StepInput, task_queue: str) -> StepOutcome:
    # The SDK would tell of a cancellation as of the child's; shielded, it stays this workflow's.
    found = await asyncio.shield(asyncio.create_task(_of_a_child(step_id, step, task_queue)))
    if found is _EXISTED:
        order = EnterOrder(step_id=step_id, step=step)
        await _ask(ENTER, order.model_dump(mode="json"), f"attach to {step_id}", task_queue)
    if found in (_EXISTED, _ENDED):
        found = await _ask(ATTEND, step_id, f"wait for {step_id}", task_queue)
    return StepOutcome.model_validate(found)


async def _of_a_child(step_id: str, step: StepInput, task_queue: str) -> Any:
    try:
        return await workflow.execute_child_workflow(
            STEP_WORKFLOW,
            step.model_dump(mode="json"),  # plain JSON: whatever converter this workflow has
            id=step_id,
            task_queue=task_queue,
            result_type=dict,
            # One that has ended must not begin anew: `enter` looks at how it ended.
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            parent_close_policy=ParentClosePolicy.ABANDON,
            cancellation_type=ChildWorkflowCancellationType.ABANDON,
            memo={MEMO_HASH: step.hash},
            static_summary=static_summary(step),
        )
    except WorkflowAlreadyStartedError:
        return _EXISTED
    except ChildWorkflowError:
        # It was refused, or ended from outside. A reset of the step looks like that, and goes on.
        return _ENDED


async def _ask(activity: str, order: Any, summary: str, task_queue: str) -> Any:
    """The answer of an activity of Surestep's own worker."""
    try:
        return await workflow.execute_activity(
            activity,
            order,
            task_queue=task_queue,
            result_type=dict,
            start_to_close_timeout=_LOOK_LIMIT,
            retry_policy=_LOOKS,
            summary=summary[:200],
        )
    except ActivityError as error:
        if is_cancelled_exception(error):
            raise asyncio.CancelledError from None
        if isinstance(error.cause, ApplicationError):
            raise _as_ours(error.cause) from None
        raise


def _as_ours(cause: ApplicationError) -> Exception:
    if cause.type == StepConflict.__name__:
        step_id, differences = cause.details
        return StepConflict(step_id, differences)
    if cause.type == StepFailed.__name__ or cause.type in NOTHING_SENT:
        kind: type[SurestepError] = getattr(errors, cause.type)
        return kind(cause.message)
    return cause
