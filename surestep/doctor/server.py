"""The server: its version, and what its namespace can do."""

import re

from temporalio.api.enums.v1 import NamespaceState
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    DescribeNamespaceResponse,
    GetSystemInfoRequest,
)
from temporalio.service import RPCError

from surestep.doctor.finding import Finding, ok, problem, warning
from surestep.doctor.patient import Patient
from surestep.protocol import STEP_WORKFLOW, WATCH_WORKFLOW
from surestep.registration import no_namespace

Version = tuple[int, int]

OLDEST: Version = (1, 25)
"""The first in which updates are for everybody, and which keeps a workflow's summary."""

TRIED: Version = (1, 32)
"""The one that Surestep's own tests run on."""

BLOB = 2 * 1024 * 1024
CROWD = 1000
"""Open steps. If an agent waits for each, the calls that a namespace admits by default are near."""


async def check_version(
    patient: Patient, *, oldest: Version = OLDEST, tried: Version = TRIED
) -> list[Finding]:
    answer = await patient.server.workflow_service.get_system_info(GetSystemInfoRequest())
    text = answer.server_version
    read = re.match(r"v?(\d+)\.(\d+)", text)
    if read is None:
        return [
            warning(
                "server",
                f"it does not say its version ({text!r})",
                "Whether it can do what steps need is not known.",
                f"Use a Temporal server {_shown(oldest)} or later; {_shown(tried)} is what "
                "Surestep is tested on.",
            )
        ]
    version = int(read[1]), int(read[2])
    if version < oldest:
        return [
            problem(
                "server",
                f"Temporal {text}, older than {_shown(oldest)}",
                "It lacks updates, by which a decision is answered, or the summaries by which "
                "people know a step.",
                f"Upgrade it; {_shown(tried)} is what Surestep is tested on.",
            )
        ]
    if version != tried:
        kind = "older" if version < tried else "newer"
        return [
            warning(
                "server",
                f"Temporal {text}, {kind} than {_shown(tried)}",
                "Surestep has not been tested on it.",
                "Run its tests, or your own, on this version before you rely on it."
                if kind == "newer"
                else f"Upgrade it to {_shown(tried)} when you can.",
            )
        ]
    return [ok("server", f"Temporal {text}")]


def _shown(version: Version) -> str:
    return ".".join(map(str, version))


async def described(patient: Patient) -> DescribeNamespaceResponse:
    client = patient.server
    request = DescribeNamespaceRequest(namespace=client.namespace)
    return await client.workflow_service.describe_namespace(request)


async def check_namespace(patient: Patient) -> list[Finding]:
    name = patient.server.namespace
    try:
        answer = await described(patient)
    except RPCError as error:
        if not no_namespace(error):
            raise
        return [
            problem(
                "namespace",
                f"there is none called {name}",
                "No step can be started there.",
                "Correct TEMPORAL_NAMESPACE, or create it: `python starter.py setup "
                "--create-namespace --retention-days DAYS`.",
            )
        ]
    info = answer.namespace_info
    if info.state != NamespaceState.NAMESPACE_STATE_REGISTERED:
        state = NamespaceState.Name(info.state).removeprefix("NAMESPACE_STATE_").lower()
        return [problem("namespace", f"{name} is {state}", "It is going away.", "Use another one.")]
    found = _lacking(answer)
    return found or [ok("namespace", f"{name} exists, with updates and reports of stuck tasks")]


def _lacking(answer: DescribeNamespaceResponse) -> list[Finding]:
    can, found = answer.namespace_info.capabilities, []
    if not can.sync_update:
        found.append(
            problem(
                "namespace",
                "it admits no updates",
                "`starter.py decide` gets no answer, and an agent's workflow cannot ask a step.",
                "Switch frontend.enableUpdateWorkflowExecution on in the server's dynamic "
                "configuration.",
            )
        )
    if not can.reported_problems_search_attribute:
        found.append(
            warning(
                "namespace",
                "it does not report workflows whose tasks fail",
                "The list of stuck steps stays empty whatever happens.",
                "Set system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute above 0, "
                "or upgrade the server.",
            )
        )
    return found


async def check_limits(patient: Patient, *, crowd: int = CROWD) -> list[Finding]:
    found = []
    size = (await described(patient)).namespace_info.limits.blob_size_limit_error
    if 0 < size < BLOB:
        found.append(
            problem(
                "limits",
                f"a payload may have {size} bytes, less than the {BLOB} that are usual",
                "A step's input, its records and its outcome are bounded for that size; a smaller "
                "limit can stop a step in the middle.",
                f"Set limit.blobSize.error to {BLOB} for this namespace.",
            )
        )
    query = (
        f"WorkflowType IN ('{STEP_WORKFLOW}', '{WATCH_WORKFLOW}') AND ExecutionStatus = 'Running'"
    )
    open_ = (await patient.server.count_workflows(query)).count
    if open_ > crowd:
        found.append(
            warning(
                "limits",
                f"{open_} steps and watches are open",
                "Each agent that has just begun to wait holds a call, and a namespace admits some "
                "1,200 at a time by default. How many yours admits cannot be asked.",
                "Set frontend.namespaceCount higher, or on Temporal Cloud ask for more; "
                "docker-compose.yml has it at 20000.",
            )
        )
    return found or [ok("limits", f"payloads up to {size or BLOB} bytes; {open_} steps open")]
