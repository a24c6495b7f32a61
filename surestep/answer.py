"""The answer of a step to a decision, also where many decide at once, or no worker is there yet."""

import asyncio
import logging
import time
from datetime import timedelta
from typing import Final
from uuid import uuid4

from temporalio.client import Client, RPCTimeoutOrCancelledError, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from surestep.decision import Decision, Ruling
from surestep.errors import InvalidArguments, SurestepError
from surestep.protocol import DECIDE, NOT_TAKEN

logger = logging.getLogger("surestep")

AGAIN: Final = timedelta(seconds=1)

# A step takes ten updates at a time. Without a worker they stay, and in the end are dropped. Where
# its workflow tasks fail, as they do once a search attribute was removed, they are dropped as well.
NOT_NOW: Final = (
    "in-flight updates",
    "update was aborted",
    "workflow task failure",
    "Workflow Task in failed state",
    "workflow is closing",  # or renews its history
)


class DecisionPending(SurestepError):
    """No worker has answered in time. The decision may still be taken; its id counts once."""

    def __init__(self, step_id: str, decision: Decision) -> None:
        super().__init__(
            f"step {step_id!r} has not answered yet: is a worker running? The decision may still "
            f"be taken. Send it again with id={decision.id!r}: it is taken once"
        )
        self.decision = decision


async def answer_to(
    client: Client, step_id: str, decision: Decision, until: float | None = None
) -> Ruling:
    """The ruling. Raises DecisionPending when `until`, by the monotonic clock, there is none.

    Every repetition of the call carries one update id, so it gets what the first one was answered.
    """
    handle = client.get_workflow_handle(step_id)
    message = decision.model_dump(mode="json", exclude_none=True)
    update_id, told = f"decide-{uuid4()}", False
    while True:
        left = None if until is None else max(until - time.monotonic(), 0.0)
        try:
            async with asyncio.timeout(left):
                ruling: Ruling = await handle.execute_update(
                    DECIDE, message, id=update_id, result_type=Ruling
                )
                return ruling
        except (TimeoutError, RPCTimeoutOrCancelledError) as error:
            # The SDK makes one of them of a cancellation as well, which must stay one.
            task = asyncio.current_task()
            if task and task.cancelling():
                raise asyncio.CancelledError from None
            if until is not None and time.monotonic() >= until:
                raise DecisionPending(step_id, decision) from error
        except WorkflowUpdateFailedError as error:
            return refusal(error)
        except RPCError as error:
            if not any(words in error.message for words in NOT_NOW):
                raise
            if not told:
                logger.warning(
                    "step %s does not answer; is a worker running? (%s)", step_id, error.message
                )
            told = True
        await asyncio.sleep(AGAIN.total_seconds())


def refusal(error: WorkflowUpdateFailedError) -> Ruling:
    """The ruling of a decision that was not taken. Raises InvalidArguments for what is none."""
    cause = error.cause
    if isinstance(cause, ApplicationError) and cause.type == NOT_TAKEN and cause.details:
        return Ruling.model_validate(cause.details[0])
    raise InvalidArguments(str(cause)) from error
