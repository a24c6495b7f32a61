"""The clock of this machine against the server's.

A server says nowhere what time it is. It does say when a queue was last asked for work. So we ask
on a queue that nobody else uses, and look how that was written down: between our asking and our
reading it, by our clock, lies the server's time. The width of that window is the error bound.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    DescribeTaskQueueRequest,
    PollWorkflowTaskQueueRequest,
)

from surestep.contract import SLACK
from surestep.doctor.finding import Finding, ok, problem, warning
from surestep.doctor.patient import Patient

CHECK = "clock"
QUEUE = "surestep-doctor"
"""Nobody puts work there, so the question takes none away."""

NOTICEABLE = SLACK / 3
LOOKS_EVERY = timedelta(seconds=0.02)
ASKS_FOR = timedelta(seconds=20)  # a server refuses polls that are much shorter

_MEANING = (
    f"The first attempt of an action is dated by its worker, and {SLACK.total_seconds():g} s are "
    "allowed for what its clock is off. Beyond that a key can count as alive that the service has "
    "forgotten, and signed decisions are refused as too old or made in the future."
)
_REMEDY = "Let a time service (NTP) set the clocks of this machine and of the server's hosts."


async def check_clock(patient: Patient) -> list[Finding]:
    """How far this machine's clock, which stands for the workers beside it, is off."""
    least, most = await _difference(patient)
    middle, error = (least + most) / 2, (most - least) / 2
    what = f"{_shown(middle, error)}; measured on this machine"
    if least > SLACK or most < -SLACK:
        return [problem(CHECK, what, _MEANING, _REMEDY)]
    if abs(middle) + error > NOTICEABLE:
        return [warning(CHECK, what, _MEANING, _REMEDY)]
    return [ok(CHECK, what)]


async def _difference(patient: Patient) -> tuple[timedelta, timedelta]:
    """The least and the most by which our clock can be ahead."""
    client, identity = patient.server, f"surestep doctor {uuid4()}"
    service, queue = client.workflow_service, TaskQueue(name=QUEUE)
    poll = PollWorkflowTaskQueueRequest(
        namespace=client.namespace, task_queue=queue, identity=identity
    )
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=queue,
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    )
    before = patient.clock()
    asking = asyncio.create_task(service.poll_workflow_task_queue(poll, timeout=ASKS_FOR))
    try:
        while not asking.done():
            answer = await service.describe_task_queue(request)
            after = patient.clock()
            for one in answer.pollers:
                if one.identity == identity:
                    server: datetime = one.last_access_time.ToDatetime(UTC)
                    return before - server, after - server
            await asyncio.sleep(LOOKS_EVERY.total_seconds())
        await asking  # it was refused
        raise TimeoutError
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


def _shown(middle: timedelta, error: timedelta) -> str:
    bound = f"{error.total_seconds():.2g} s"
    if abs(middle) <= error:
        return f"within {bound} of the server's"
    side = "ahead of" if middle > timedelta(0) else "behind"
    return f"{abs(middle).total_seconds():.3g} s {side} the server's, give or take {bound}"
