"""What a tool of an agent that is a workflow answers to its model.

Import it, and the module of your tools, with `workflow.unsafe.imports_passed_through()`.
"""

from temporalio.exceptions import ApplicationError

from surestep.agents.reply import Reply, refused, settled, stopped, unfit
from surestep.errors import InvalidStepId, StepConflict, StepFailed
from surestep.outcome import Advice
from surestep.protocol import NOTHING_SENT, TASK_QUEUE
from surestep.tool import Action
from surestep.workflow import run_step


async def step_reply(
    step_id: str,
    action: Action,
    *,
    run: str | None = None,
    requester: str = "",
    task_queue: str = TASK_QUEUE,
) -> Reply:
    """Perform the step, or attach to it, and say what became of it in words for the model.

    step_id  names the intent, made from the arguments (`f"refund/{order}"`): never from the
             model's call id, and never by counting calls, which a retry may plan otherwise
    The parameters are those of `surestep.workflow.run_step`. What the model has done wrong is a
    reply: nothing was sent for it.
    """
    try:
        return settled(
            await run_step(step_id, action, run=run, requester=requester, task_queue=task_queue)
        )
    except ApplicationError as error:
        if error.type == StepConflict.__name__:
            return refused(error.message, Advice.STOP)
        if error.type == StepFailed.__name__:
            return stopped(step_id, action.tool)
        if error.type in NOTHING_SENT and error.type != InvalidStepId.__name__:
            return unfit(step_id, error.message)
        raise
