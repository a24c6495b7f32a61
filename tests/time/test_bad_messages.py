"""Decisions as people, scripts and the Web UI send them: the step stays decidable."""

import asyncio
import json

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowUpdateFailedError
from temporalio.common import RawValue
from temporalio.service import RPCError, RPCStatusCode

from surestep import State, SurestepError
from surestep.decision import Ruling
from tests.saying import say
from tests.time.service import REQUEST_LOST, Service, tool_for
from tests.waiting import eventually

MEGABYTE = 1_000_000


def raw(data: bytes, encoding: bytes = b"json/plain") -> RawValue:
    """A payload as other SDKs, or nobody, would write it."""
    return RawValue(Payload(metadata={"encoding": encoding}, data=data))


SEEN = 4  # planned, dispatched, in doubt, asked
OK = {"action": "charge", "verdict": "confirm", "by": "ann", "receipt_id": "e-7", "version": SEEN}

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
    "an action of a megabyte": [OK | {"action": "x" * MEGABYTE}],
    "an action of a megabyte that nobody can print": [OK | {"action": "\ue000" * 600_000}],
    "a field of a megabyte": [OK | {"x" * MEGABYTE: 1}],
    "a hundred thousand fields": [OK | {f"{number:x}": 1 for number in range(100_000)}],
    "three hundred inputs": [OK] * 300,
}

# None of these can be decoded, at least not into one JSON object.
ENCODED = {
    "bytes": raw(b"\xff\xfe\x00", b"binary/plain"),
    "the null of other languages": raw(b"", b"binary/null"),
    "a protobuf of an unknown type": raw(b"\x0a\x01", b"binary/protobuf"),
    "a protobuf in JSON": raw(b"{}", b"json/protobuf"),
    "something encrypted": raw(b"\x00\x01", b"binary/encrypted"),
    "an encoding that nobody knows": raw(b"?", b"json/unheard-of"),
    "a payload without an encoding": RawValue(Payload(data=b"{}")),
    "broken JSON": raw(b'{"verdict": '),
    "JSON that is no UTF-8": raw(b'{"verdict": "\xff"}'),
    "half of a surrogate pair": raw(b'{"verdict": "confirm", "by": "\\ud800"}'),
    "half of a surrogate pair as a field": raw(b'{"verdict": "confirm", "\\ud800": 1}'),
    "nested twenty thousand deep": raw(b"[" * 20_000 + b"]" * 20_000),
    "a number of ten thousand digits": raw(b'{"version": ' + b"9" * 10_000 + b"}"),
    "a number that JSON does not have": raw(b'{"verdict": NaN}'),
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
    """A proper decision is taken, soon."""
    async with asyncio.timeout(30):
        ruling = await say(surestep, step_id, "confirm", by="ann", receipt_id="e-7")
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


@pytest.mark.parametrize("payload", ENCODED.values(), ids=ENCODED)
async def test_what_cannot_be_decoded_wedges_nothing(client, parked, step_id, payload):
    handle = client.get_workflow_handle(step_id)
    with pytest.raises(WorkflowUpdateFailedError):
        await handle.execute_update("decide", payload)
    for number, signal in enumerate(("decide", "notice", "decision"), start=1):
        await handle.signal(signal, payload)
        await eventually(lambda number=number: refused(parked, step_id, number))
    (record,) = await parked.handle(step_id).records()
    assert record.state is State.UNKNOWN
    assert len(record.model_dump_json()) < 10_000
    await settles(parked, step_id)


async def refused(surestep, step_id, number):
    (record,) = await surestep.handle(step_id).records()
    return record.refused_decisions >= number


@pytest.mark.parametrize("name", ["__temporal_x", "__stack_trace", "records", " ", "n" * 900])
async def test_a_signal_or_update_of_any_name_wedges_nothing(client, parked, step_id, name):
    handle = client.get_workflow_handle(step_id)
    with pytest.raises(WorkflowUpdateFailedError):
        await handle.execute_update(name, OK)
    await handle.signal(name, OK)
    await eventually(lambda: refused(parked, step_id, 1))
    await settles(parked, step_id)


async def test_a_decision_as_json_text_is_understood(client, parked, step_id):
    text = json.dumps(OK)
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
