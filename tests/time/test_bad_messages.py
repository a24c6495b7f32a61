"""Decisions as people, scripts and the Web UI send them: the step stays decidable."""

import asyncio

import pytest
from temporalio.client import (
    WorkflowUpdateFailedError,
)
from temporalio.service import RPCError, RPCStatusCode

from surestep import State, SurestepError
from surestep.decision import Ruling
from tests.time.service import REQUEST_LOST, Service, tool_for
from tests.waiting import eventually

MEGABYTE = 1_000_000
OK = {"action": "charge", "verdict": "confirm", "by": "ann", "receipt_id": "e-7"}

UNREADABLE = {
    "nothing": [],
    "two inputs": [OK, OK],
    "null": [None],
    "a number": [42],
    "a list": [["confirm"]],
    "plain text": ["confirm"],
    "broken JSON in text": ['{"verdict": '],
    "no verdict": [{"action": "charge"}],
    "a verdict that does not exist": [{"action": "charge", "verdict": "Retry!"}],
    "a field that does not exist": [OK | {"acton": "charge"}],
    "a version that is text": [OK | {"version": "three"}],
    "a note of ten thousand characters": [OK | {"note": "x" * 10_000}],
}


@pytest.fixture
async def parked(client, working, step_id):
    """A step that is unknown, blind, and waits for nothing but a decision."""
    charge = tool_for(Service([REQUEST_LOST]), looks=False, ask=True)
    async with working(charge) as surestep:
        handle = await surestep.start(step_id, charge(order="o-1"))

        async def asked():
            records = await handle.records()
            return records and records[0].state is State.UNKNOWN

        await eventually(asked)
        yield surestep


async def settles(surestep, step_id):
    """A proper decision is taken, quickly."""
    async with asyncio.timeout(5):
        ruling = await surestep.decide(step_id, "confirm", by="ann", receipt_id="e-7")
        assert ruling.taken, ruling.why
        outcome = await surestep.recall(step_id)
    assert outcome.state is State.CONFIRMED
    assert outcome.worst.receipt.id == "e-7"


@pytest.mark.parametrize("args", UNREADABLE.values(), ids=UNREADABLE)
async def test_an_update_that_is_no_decision_is_refused_with_a_reason(
    client, parked, step_id, args
):
    handle = client.get_workflow_handle(step_id)
    with pytest.raises(WorkflowUpdateFailedError) as caught:
        await handle.execute_update("decide", args=args)
    why = caught.value.cause.message
    assert 10 < len(why) < 1000
    assert "Traceback" not in why
    assert "decision" in why or "input" in why
    await settles(parked, step_id)


@pytest.mark.parametrize("args", UNREADABLE.values(), ids=UNREADABLE)
async def test_a_signal_that_is_no_decision_is_recorded_and_changes_nothing(
    client, parked, step_id, args
):
    handle = client.get_workflow_handle(step_id)
    await handle.signal("decide", args=args)

    async def recorded():
        (record,) = await parked.handle(step_id).records()
        return record if record.refused_decisions else None

    record = await eventually(recorded)
    assert record.state is State.UNKNOWN
    assert "could not be read" in record.log[-1].text
    await settles(parked, step_id)


async def test_a_decision_as_json_text_is_understood(client, parked, step_id):
    text = '{"verdict": "confirm", "by": "ann"}'
    handle = client.get_workflow_handle(step_id)
    ruling = await handle.execute_update("decide", text, result_type=Ruling)
    assert ruling.taken


async def test_a_misspelt_update_is_refused(client, parked, step_id):
    with pytest.raises(WorkflowUpdateFailedError):
        await client.get_workflow_handle(step_id).execute_update("Decide", OK)
    await settles(parked, step_id)


@pytest.mark.parametrize("size", [22, 50], ids=["2.2 MB", "5 MB"])
async def test_a_signal_over_the_limit_is_refused_by_the_server(client, parked, step_id, size):
    note = "x" * (MEGABYTE * size // 10)
    with pytest.raises(RPCError) as caught:
        await client.get_workflow_handle(step_id).signal("decide", OK | {"note": note})
    limits = (RPCStatusCode.INVALID_ARGUMENT, RPCStatusCode.RESOURCE_EXHAUSTED)
    assert caught.value.status in limits
    await settles(parked, step_id)


async def test_a_signal_just_under_the_limit_is_refused_and_not_kept(client, parked, step_id):
    note = "x" * (MEGABYTE * 19 // 10)
    await client.get_workflow_handle(step_id).signal("decide", OK | {"note": note})

    async def recorded():
        (record,) = await parked.handle(step_id).records()
        return record if record.refused_decisions else None

    record = await eventually(recorded)
    assert len(record.model_dump_json()) < 10_000
    await settles(parked, step_id)


async def test_a_note_that_is_too_long_is_refused_before_it_is_sent(parked, step_id):
    with pytest.raises(SurestepError, match="note"):
        await parked.decide(step_id, "confirm", by="ann", note="x" * (MEGABYTE * 22 // 10))
    await settles(parked, step_id)


async def test_an_update_over_the_limit_leaves_the_step_usable(client, parked, step_id):
    """Sent past our client, with Temporal's own. The server does not refuse it by itself."""
    note = "x" * (MEGABYTE * 22 // 10)
    handle = client.get_workflow_handle(step_id)
    with pytest.raises(RPCError):
        async with asyncio.timeout(2):
            await handle.execute_update("decide", OK | {"note": note})
    await settles(parked, step_id)
