"""Worker versions: which one is current, and whether its workers are there."""

from temporalio.api.deployment.v1 import WorkerDeploymentVersion
from temporalio.api.enums.v1 import TaskQueueType, WorkerVersioningMode
from temporalio.api.taskqueue.v1 import PollerInfo
from temporalio.service import RPCError, RPCStatusCode

from surestep.doctor.finding import Finding, ok, problem, some, warning
from surestep.doctor.patient import Patient
from surestep.doctor.workers import queue_of, recent
from surestep.protocol import STEP_WORKFLOW, WATCH_WORKFLOW

CHECK = "versions"
UNVERSIONED = "no version"

_CURRENT = (
    "Make a version current whose workers run: `temporal worker deployment set-current-version "
    "--deployment-name NAME --build-id BUILD`, or `--unversioned`."
)


async def check_versions(patient: Patient) -> list[Finding]:
    client, queue = patient.server, patient.settings.task_queue
    told = await queue_of(client, queue, TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW)
    routed = told.versioning_info
    current = _named(routed.current_deployment_version)
    ramping = _named(routed.ramping_deployment_version)
    there = {_version(poller) for poller in recent(patient, list(told.pollers))}
    if not there:
        return [ok(CHECK, f"{current} is current; no worker is there")]
    if current not in there:
        return [
            problem(
                CHECK,
                f"{current} is current, and workers of {some(sorted(there))} are there",
                "None of them gets work, except for what is ramping: steps stand still.",
                _CURRENT,
            )
        ]
    idle = there - {current} - ({ramping} if ramping != UNVERSIONED else set())
    if idle:
        return [
            warning(
                CHECK,
                f"{current} is current, and workers of {some(sorted(idle))} are there as well",
                "They get no new work. That is as it should be while versions are replaced; "
                "otherwise somebody forgot to make them current, or to stop them.",
                _CURRENT,
            )
        ]
    return [ok(CHECK, f"{current} is current, and its workers are there{await _behind(patient)}")]


async def _behind(patient: Patient) -> str:
    """What is open and last ran elsewhere; it moves by itself."""
    queue = patient.settings.task_queue
    told = await queue_of(patient.server, queue, TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW)
    version = told.versioning_info.current_deployment_version
    if not version.build_id:
        return ""
    query = (
        f"WorkflowType IN ('{STEP_WORKFLOW}', '{WATCH_WORKFLOW}') AND ExecutionStatus = 'Running' "
        f"AND TemporalWorkerDeploymentVersion != '{version.deployment_name}:{version.build_id}'"
    )
    try:
        count = (await patient.server.count_workflows(query)).count
    except RPCError as error:
        if error.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise
        return ""
    return f"; {count} open steps last ran on another, and move with their next event"


def _version(poller: PollerInfo) -> str:
    options = poller.deployment_options
    if options.worker_versioning_mode != WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED:
        return UNVERSIONED
    return f"{options.deployment_name}:{options.build_id}"


def _named(version: WorkerDeploymentVersion) -> str:
    return f"{version.deployment_name}:{version.build_id}" if version.build_id else UNVERSIONED
