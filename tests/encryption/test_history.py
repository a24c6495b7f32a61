"""What a server stores of a step, and answers, when payloads are encrypted: none of the words."""

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.query.v1 import WorkflowQuery
from temporalio.api.workflowservice.v1 import (
    DescribeWorkflowExecutionRequest,
    QueryWorkflowRequest,
)

from surestep import InvalidArguments, State, Surestep, Tools
from surestep.encryption.codec import is_encrypted
from tests.encryption.raw import history, payloads
from tests.encryption.rings import FIRST, connect
from tests.steps import facts, tools
from worker import build_worker

ARGUMENT, LABEL, NOTE, JUNK, WRONG = PLANTED = tuple(f"planted{number}" for number in range(5))


@pytest.fixture
async def surestep(temporal_address, ring_file, step_id):
    """A client and a worker with a ring."""
    client = await connect(temporal_address, ring_file("ring").hold(FIRST))
    async with build_worker(client, Tools(*tools.tools), task_queue=step_id):
        yield Surestep(client, task_queue=step_id)


async def stored(client, step_id: str) -> bytes:
    """Everything that the server tells somebody who has no key."""
    place, service = WorkflowExecution(workflow_id=step_id), client.workflow_service
    told = [await history(client, step_id)]
    request = DescribeWorkflowExecutionRequest(namespace=client.namespace, execution=place)
    told.append(await service.describe_workflow_execution(request))
    query = WorkflowQuery(query_type="__temporal_workflow_metadata")
    asked = QueryWorkflowRequest(namespace=client.namespace, execution=place, query=query)
    told.append(await service.query_workflow(asked))
    return b"".join(one.SerializeToString() for one in told)


def words(told: bytes) -> list[str]:
    return [one for one in PLANTED if one.encode() in told]


async def test_a_step_with_everything_in_it_tells_nothing_without_the_key(surestep, world, step_id):
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    await surestep.start(step_id, tools.blind(order=ARGUMENT, cents=1), label=LABEL)
    record = await facts.parked(surestep, step_id)
    assert words((await surestep.handle(step_id).submitted()).model_dump_json().encode()) == [
        ARGUMENT,
        LABEL,
    ]
    handle = surestep.client.get_workflow_handle(step_id)
    await handle.signal("decide", JUNK)
    assert words(await stored(surestep.client, step_id)) == []
    await surestep.decide(
        step_id, "confirm", by="Ada", note=NOTE, receipt_id="L-1", version=record.version
    )
    outcome = await surestep.handle(step_id).outcome()
    assert outcome.state is State.CONFIRMED
    assert NOTE in facts.told(outcome)
    raw = await stored(surestep.client, step_id)
    assert words(raw) == []
    assert step_id.encode() in raw


async def test_a_failure_with_its_stack_trace_tells_nothing_without_the_key(surestep, step_id):
    await surestep.client.start_workflow(
        "AgentStep",
        {"actions": [{"tool": "blind", "arguments": {"order": "o-1", "cents": WRONG}}]},
        id=step_id,
        task_queue=surestep.task_queue,
    )
    with pytest.raises(InvalidArguments, match="cents"):
        await surestep.handle(step_id).outcome()
    raw = await history(surestep.client, step_id)
    failure = raw.events[-1].workflow_execution_failed_event_attributes.failure
    assert failure.message == "Encoded failure"
    assert failure.stack_trace == ""
    assert failure.encoded_attributes.data
    assert b"cents" not in raw.SerializeToString()
    assert words(raw.SerializeToString()) == []


async def test_a_summary_a_memo_and_every_input_are_encrypted(surestep, step_id):
    await surestep.run(step_id, tools.keyed(order=ARGUMENT, cents=1), label=LABEL)
    raw = await history(surestep.client, step_id)
    started = raw.events[0]
    assert is_encrypted(started.user_metadata.summary)
    assert all(
        map(is_encrypted, started.workflow_execution_started_event_attributes.memo.fields.values())
    )
    plain = {
        EventType.Name(event.event_type)
        for event in raw.events
        for one in payloads(event)
        if one.ByteSize() and not is_encrypted(one) and "type" not in one.metadata
    }
    # What has a type is a search attribute. A marker's core data are the local activity's name,
    # number and times.
    assert plain <= {"EVENT_TYPE_MARKER_RECORDED"}
    assert words(raw.SerializeToString()) == []
