"""The workers on the task queue: who asks for work, of which kind, and since when no more."""

from datetime import UTC, datetime, timedelta

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import PollerInfo, TaskQueue
from temporalio.api.workflowservice.v1 import (
    DescribeTaskQueueRequest,
    DescribeTaskQueueResponse,
    ListWorkersRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from surestep.doctor.finding import Finding, ok, problem, some, warning
from surestep.doctor.patient import Patient
from surestep.doctor.retention import days
from surestep.pollers import ACTIVITIES, WORKFLOWS, pollers
from surestep.protocol import STEP_WORKFLOW, WATCH_WORKFLOW

CHECK = "workers"

SILENT = timedelta(minutes=2)
"""A worker asks again every minute at the latest; the server remembers it for five."""

_START = "Start one with `python worker.py`, with SURESTEP_TASK_QUEUE as it is here."


async def queue_of(
    client: Client, queue: str, kind: TaskQueueType.ValueType
) -> DescribeTaskQueueResponse:
    return await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace, task_queue=TaskQueue(name=queue), task_queue_type=kind
        )
    )


async def check_workers(patient: Patient) -> list[Finding]:
    client, queue = patient.server, patient.settings.task_queue
    known = await pollers(client, queue)
    workflows, activities = known[WORKFLOWS], known[ACTIVITIES]
    deciding, acting = (recent(patient, one) for one in (workflows, activities))
    silent = {one.identity: one for one in (*workflows, *activities)}
    for one in (*deciding, *acting):
        silent.pop(one.identity, None)
    found = [_gone(patient, one) for one in silent.values()]
    if not deciding:
        what = f"none asks for work on the queue {queue!r}"
        means = "Steps are recorded and stand still; decisions are answered by nobody."
        return [*found, problem(CHECK, what, means, _START)]
    if not acting:
        what = f"{some(_names(deciding))} takes no activities from the queue {queue!r}"
        means = "Steps begin, and nothing is sent or looked up."
        return [*found, problem(CHECK, what, means, "Run `python worker.py` as it is shipped.")]
    return found or [ok(CHECK, f"on {queue!r}: {some(await _described(client, queue, deciding))}")]


async def check_other_queues(patient: Patient) -> list[Finding]:
    """Open steps wait on the queue on which they were started, whatever is set today."""
    client, ours = patient.server, patient.settings.task_queue
    query = (
        f"WorkflowType IN ('{STEP_WORKFLOW}', '{WATCH_WORKFLOW}') AND ExecutionStatus = 'Running' "
        f"AND TaskQueue != '{ours}'"
    )
    waiting: dict[str, str] = {}
    async for run in client.list_workflows(query, limit=500):
        waiting.setdefault(run.task_queue, run.id)
    found = []
    for queue, one in waiting.items():
        if not recent(patient, (await pollers(client, queue))[WORKFLOWS]):
            found.append(
                problem(
                    "other queues",
                    f"{one} and perhaps others wait on the queue {queue!r}, and no worker asks "
                    "there",
                    "They stand still: a step stays on the queue on which it was started.",
                    f"Start a worker with SURESTEP_TASK_QUEUE={queue} until they are settled.",
                )
            )
    return found or [ok("other queues", f"{len(waiting)} with open steps, each with a worker")]


def recent(patient: Patient, known: list[PollerInfo]) -> list[PollerInfo]:
    return [one for one in known if _age(patient, one) < SILENT]


def _age(patient: Patient, poller: PollerInfo) -> timedelta:
    last: datetime = poller.last_access_time.ToDatetime(UTC)
    return patient.clock() - last


def _gone(patient: Patient, poller: PollerInfo) -> Finding:
    return warning(
        CHECK,
        f"{poller.identity} has not asked for work for {days(_age(patient, poller))}",
        "It has ended, hangs, or cannot reach the server. If it was stopped on purpose, the "
        "server forgets it within five minutes.",
        "Look at its log and its machine.",
    )


def _names(known: list[PollerInfo]) -> list[str]:
    return sorted({one.identity for one in known})


async def _described(client: Client, queue: str, known: list[PollerInfo]) -> list[str]:
    """The identities, with what their heartbeats say where the server keeps these."""
    try:
        query = f"TaskQueue = '{queue}'"
        request = ListWorkersRequest(namespace=client.namespace, query=query)
        listed = (await client.workflow_service.list_workers(request)).workers_info
    except RPCError as error:
        if error.status not in (RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.INVALID_ARGUMENT):
            raise
        return _names(known)
    said = {
        one.worker_heartbeat.worker_identity: f" on {one.worker_heartbeat.host_info.host_name}, "
        f"{one.worker_heartbeat.sdk_name} {one.worker_heartbeat.sdk_version}"
        for one in listed
    }
    return [f"{name}{said.get(name, '')}" for name in _names(known)]
