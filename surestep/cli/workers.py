"""Whether a worker is there, and how long to wait for its answer."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, TypeVar

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client, RPCTimeoutOrCancelledError, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

ANSWERS_WITHIN: Final = timedelta(seconds=5)

# The server lists who polled in the last minutes. It can be wrong right after it has started.
ANSWERS_WITHIN_UNSEEN: Final = timedelta(seconds=1)

_NO_ANSWER: Final = (
    RPCStatusCode.ABORTED,  # the worker's task failed while it was to answer
    RPCStatusCode.CANCELLED,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.FAILED_PRECONDITION,  # the step's workflow tasks fail, or no poller was seen
)

T = TypeVar("T")


def start_one(queue: str) -> str:
    """What to do where no worker is."""
    return f"no worker answers on the task queue {queue!r}: start one with `python worker.py`"


async def polled(client: Client, queue: str) -> bool:
    """Whether a worker has asked for work lately."""
    answer = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
    )
    return len(answer.pollers) > 0


async def answered(client: Client, queue: str, call: Callable[[], Awaitable[T]]) -> T | None:
    """The answer to a query or update; None: no worker gave one in time."""
    limit = ANSWERS_WITHIN if await polled(client, queue) else ANSWERS_WITHIN_UNSEEN
    try:
        async with asyncio.timeout(limit.total_seconds()):
            return await call()
    except (TimeoutError, WorkflowQueryFailedError):
        return None
    except RPCTimeoutOrCancelledError:
        # The SDK raises it for a cancellation as well, which must stay one.
        task = asyncio.current_task()
        if task and task.cancelling():
            raise asyncio.CancelledError from None
        return None
    except RPCError as error:
        if error.status in _NO_ANSWER:
            return None
        raise
