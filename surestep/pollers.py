"""Who asks the server for work of a task queue."""

from datetime import timedelta
from typing import Final

from temporalio.api.enums.v1 import DescribeTaskQueueMode, TaskQueueType
from temporalio.api.taskqueue.v1 import PollerInfo, TaskQueue, TaskQueueVersionSelection
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client

WORKFLOWS: Final = TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW
ACTIVITIES: Final = TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY

Pollers = dict[TaskQueueType.ValueType, list[PollerInfo]]


async def pollers(client: Client, task_queue: str, within: timedelta | None = None) -> Pollers:
    """Of every version, by what they ask for; a worker is remembered for five minutes.

    Raises RPCError.
    """
    # The enhanced mode looks at all partitions of a queue, the other one at the first only.
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=task_queue),
        api_mode=DescribeTaskQueueMode.DESCRIBE_TASK_QUEUE_MODE_ENHANCED,
        task_queue_types=[WORKFLOWS, ACTIVITIES],
        versions=TaskQueueVersionSelection(unversioned=True, all_active=True),
        report_pollers=True,
    )
    queue = await client.workflow_service.describe_task_queue(request, timeout=within)
    return {
        kind: [
            poller
            for version in queue.versions_info.values()
            for poller in version.types_info[kind].pollers
        ]
        for kind in (WORKFLOWS, ACTIVITIES)
    }
