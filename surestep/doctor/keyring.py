"""The key ring: whether it can be read, and opens what the namespace holds."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload, WorkflowExecution
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from surestep.doctor.finding import Finding, ok, problem, some, warning
from surestep.doctor.patient import Patient
from surestep.encryption.codec import is_encrypted, key_id_of
from surestep.encryption.errors import KeyFileError
from surestep.encryption.key_ring import KeyRing
from surestep.protocol import STEP_WORKFLOW, WATCH_WORKFLOW

CHECK = "encryption"

SAMPLE = 25
"""Workflows of each sort, open and closed, whose histories are looked through."""

EVENTS = 100


@dataclass
class _Seen:
    """What the histories hold: key ids, each with a workflow; and the latest one in the clear."""

    keys: dict[str, str] = field(default_factory=dict)
    in_the_clear: str | None = None
    histories: int = 0


async def check_key_ring(patient: Patient) -> list[Finding]:
    file = patient.settings.encryption_keys
    ids: tuple[str, ...] = ()
    if file:
        try:
            ids = KeyRing.load(file).ids
        except KeyFileError as error:
            what, _, remedy = str(error).rpartition(": ")
            means = "Workers and agents with these settings refuse to start."
            return [problem(CHECK, f"{what} (SURESTEP_ENCRYPTION_KEYS)", means, f"{remedy}.")]
    seen = await _looked_through(patient.client) if patient.client else _Seen()
    found = [_lacking(seen, ids, has_ring=file is not None), _leaking(seen, has_ring=bool(file))]
    bad = [one for one in found if one]
    if file is None:
        return bad or [ok(CHECK, "off, and nothing here is encrypted (SURESTEP_ENCRYPTION_KEYS)")]
    told = f"keys {some(list(ids))}; they open the latest {seen.histories} histories"
    return bad or [ok(CHECK, told)]


def _lacking(seen: _Seen, ids: tuple[str, ...], *, has_ring: bool) -> Finding | None:
    lacking = [key for key in seen.keys if key not in ids]
    if not lacking:
        return None
    what = f"{seen.keys[lacking[0]]} and perhaps others are encrypted under {some(lacking)}"
    missing = "which SURESTEP_ENCRYPTION_KEYS does not have" if has_ring else "and no ring is set"
    return problem(
        CHECK,
        f"{what}, {missing}",
        "Those steps stand still, and their outcomes cannot be read. Nothing is lost.",
        "Add the keys to the file; they go on by themselves. A key may leave the ring once nothing "
        "is kept that needs it (docs/encryption.md)."
        if has_ring
        else "Set SURESTEP_ENCRYPTION_KEYS to the ring that the others use.",
    )


def _leaking(seen: _Seen, *, has_ring: bool) -> Finding | None:
    """Somebody who has no ring goes on submitting, and everybody reads that."""
    if not has_ring or seen.in_the_clear is None:
        return None
    return warning(
        CHECK,
        f"the latest step, {seen.in_the_clear}, was submitted in the clear",
        "Whoever can read the namespace reads its arguments.",
        "Set SURESTEP_ENCRYPTION_KEYS for every agent, too. If encryption was switched on after "
        "that step, nothing is wrong.",
    )


async def _looked_through(client: Client) -> _Seen:
    seen = _Seen()
    for status in ("ExecutionStatus != 'Running'", "ExecutionStatus = 'Running'"):
        query = f"WorkflowType IN ('{STEP_WORKFLOW}', '{WATCH_WORKFLOW}') AND {status}"
        async for run in client.list_workflows(query, limit=SAMPLE):
            await _look_through(client, run.id, run.run_id, seen)
    query = f"WorkflowType = '{STEP_WORKFLOW}'"
    async for run in client.list_workflows(query, limit=1):
        first = await _events(client, run.id, run.run_id, 1)
        if not any(is_encrypted(one) for one in _payloads(first)):
            seen.in_the_clear = run.id
    return seen


async def _look_through(client: Client, workflow_id: str, run_id: str, seen: _Seen) -> None:
    seen.histories += 1
    for payload in _payloads(await _events(client, workflow_id, run_id, EVENTS)):
        if is_encrypted(payload):
            seen.keys.setdefault(key_id_of(payload), workflow_id)


async def _events(client: Client, workflow_id: str, run_id: str, count: int) -> Message:
    request = GetWorkflowExecutionHistoryRequest(
        namespace=client.namespace,
        execution=WorkflowExecution(workflow_id=workflow_id, run_id=run_id),
        maximum_page_size=count,
    )
    try:
        answer = await client.workflow_service.get_workflow_execution_history(request)
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:  # retention has just taken it
            raise
        return Payload()
    return answer.history


def _payloads(message: Any) -> Iterator[Payload]:
    """Every payload in a message, however deep. A map's values are reached like a list's."""
    if isinstance(message, Payload):
        yield message
        return
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None:
            continue
        if descriptor.message_type.GetOptions().map_entry:
            children = [one for one in value.values() if isinstance(one, Message)]
        else:
            children = value if descriptor.is_repeated else [value]
        for child in children:
            yield from _payloads(child)
