"""Late watches: what ended without an effect is looked at until its horizon (R17).

Two traces are honest. A watch that was ended from outside still says, in its first event, until
when it was to look. And a step names the watch that it started in its own history, so that one
that was deleted is missed. Of a step that should have started one and did not, nothing tells.
"""

from collections.abc import AsyncIterator
from datetime import datetime

from temporalio.api.common.v1 import Payloads, WorkflowExecution
from temporalio.api.enums.v1 import EventType, WorkflowExecutionStatus
from temporalio.api.workflowservice.v1 import (
    DescribeWorkflowExecutionRequest,
    GetWorkflowExecutionHistoryReverseRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from surestep.contract import Contract, Effect
from surestep.doctor.finding import Finding, ok, problem, some
from surestep.doctor.patient import Patient
from surestep.evidence import State
from surestep.protocol import STEP_WORKFLOW, WATCH_WORKFLOW, WatchInput

CHECK = "late watch"
SAMPLE = 50
"""Of the steps that ended without an effect, the latest so many are followed to their watches."""

LAST_EVENTS = 30  # a step starts its watch right before it ends

_GOOD = (
    WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING,
    WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED,
    WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW,
)


async def check_watches(patient: Patient) -> list[Finding]:
    client, now = patient.server, patient.clock()
    usual = Contract(effect=Effect.READ).watch
    longest = max((tool.contract.watch for tool in patient.tools), default=usual)
    ended, deleted, followed = [], [], 0
    async for watch_id, run_id in _ended_from_outside(client, now - longest):
        if await _is_still_wanted(client, watch_id, run_id, now):
            ended.append(watch_id)
    async for watch_id, given in _started_by_steps(client, now - longest):
        followed += 1
        if _horizon(given) > now and await _status(client, watch_id) is None:
            deleted.append(watch_id)
    found = [*_found_ended(ended, client.namespace), *_found_deleted(deleted)]
    query = f"WorkflowType = '{WATCH_WORKFLOW}' AND ExecutionStatus = 'Running'"
    count = (await client.count_workflows(query)).count
    told = f"{count} open; {followed} followed from steps that ended without an effect are there"
    return found or [ok(CHECK, told)]


async def _ended_from_outside(client: Client, since: datetime) -> AsyncIterator[tuple[str, str]]:
    query = (
        f"WorkflowType = '{WATCH_WORKFLOW}' AND CloseTime > '{since.isoformat()}' AND "
        "ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed', 'Canceled')"
    )
    async for run in client.list_workflows(query, limit=100):
        yield run.id, run.run_id


async def _is_still_wanted(client: Client, watch_id: str, run_id: str, now: datetime) -> bool:
    if await _status(client, watch_id) in (None, *_GOOD):  # deleted since, or started again
        return False
    handle = client.get_workflow_handle(watch_id, run_id=run_id)
    async for event in handle.fetch_history_events(page_size=1):
        given = await _decoded(client, event.workflow_execution_started_event_attributes.input)
        return _horizon(given) > now or any(record.anomalies for record in given.records)
    return False


async def _started_by_steps(
    client: Client, since: datetime
) -> AsyncIterator[tuple[str, WatchInput]]:
    states = f"'{State.NOT_FOUND}', '{State.UNKNOWN}'"
    query = (
        f"WorkflowType = '{STEP_WORKFLOW}' AND ExecutionStatus = 'Completed' AND "
        f"SurestepState IN ({states}) AND CloseTime > '{since.isoformat()}'"
    )
    async for run in client.list_workflows(query, limit=SAMPLE):
        last = await client.workflow_service.get_workflow_execution_history_reverse(
            GetWorkflowExecutionHistoryReverseRequest(
                namespace=client.namespace,
                execution=WorkflowExecution(workflow_id=run.id, run_id=run.run_id),
                maximum_page_size=LAST_EVENTS,
            )
        )
        for event in last.history.events:
            begun = event.start_child_workflow_execution_initiated_event_attributes
            if (
                event.event_type == EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED
                and begun.workflow_type.name == WATCH_WORKFLOW
            ):
                yield begun.workflow_id, await _decoded(client, begun.input)


async def _decoded(client: Client, payloads: Payloads) -> WatchInput:
    (given,) = await client.data_converter.decode(payloads.payloads, [WatchInput])
    watch: WatchInput = given
    return watch


def _horizon(given: WatchInput) -> datetime:
    ends = [record.watch_until for record in given.records if record.watch_until]
    return max(ends, default=datetime.min.replace(tzinfo=given.records[0].planned_at.tzinfo))


async def _status(client: Client, watch_id: str) -> WorkflowExecutionStatus.ValueType | None:
    """How its latest run stands; None: there is none, or none any more."""
    try:
        answer = await client.workflow_service.describe_workflow_execution(
            DescribeWorkflowExecutionRequest(
                namespace=client.namespace, execution=WorkflowExecution(workflow_id=watch_id)
            )
        )
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return None
    return answer.workflow_execution_info.status


_MEANS = "An effect that lands late, after its action was given up, is noticed by nobody."


def _found_ended(watches: list[str], namespace: str) -> list[Finding]:
    if not watches:
        return []
    return [
        problem(
            CHECK,
            f"{some(watches)} ended from outside before its time",
            _MEANS,
            "Let it begin again: `temporal workflow reset --type FirstWorkflowTask --reason again "
            f"--namespace {namespace} --workflow-id {watches[0]}`.",
        )
    ]


def _found_deleted(watches: list[str]) -> list[Finding]:
    if not watches:
        return []
    return [
        problem(
            CHECK,
            f"{some(watches)} was deleted before its time",
            _MEANS,
            "Look in the service yourself, until the tool's `watch` is over. Delete no open watch.",
        )
    ]
