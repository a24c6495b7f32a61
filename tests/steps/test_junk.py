"""Signals and updates that are none: they change nothing, wedge nothing, and can be seen."""

import asyncio
import json
from datetime import timedelta

import pytest
from temporalio.client import WorkflowUpdateFailedError

from surestep import State
from tests.steps import facts, tools
from tests.waiting import eventually

LIMIT = timedelta(seconds=30)

SEEN = 4  # planned, dispatched, in doubt, asked
GOOD = {"verdict": "confirm", "by": "Ada", "version": SEEN}
JUNK = {
    "no input": [],
    "two inputs": [GOOD, GOOD],
    "a word": ["retry"],
    "an empty text": [""],
    "null": [None],
    "a list": [[GOOD]],
    "a number": [7],
    "an empty object": [{}],
    "an unknown verdict": [{"verdict": "Retry!"}],
    "a version that is a word": [{"verdict": "retry", "version": "latest"}],
    "a verdict that is a list": [{"verdict": ["retry"]}],
    "a note without end": [{"verdict": "retry", "note": "x" * 5000}],
    "bytes": [b"\xff\xfe"],
}


@pytest.fixture
async def asked(working, world, step_id):
    """A step that waits for a human; its effect exists."""
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep:
        await surestep.start(step_id, tools.blind(order="o-1", cents=2500))
        await facts.parked(surestep, step_id)
        yield surestep


async def one_post_and_confirmed(surestep, world, step_id):
    outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED, facts.told(outcome)
    assert len(await facts.posts(world, f"{step_id}/*")) == 1
    return outcome


@pytest.mark.parametrize("signal", ["decide", "notice"])
async def test_junk_of_every_shape_is_seen_and_changes_nothing(
    signal, asked, world, client, step_id
):
    handle = client.get_workflow_handle(step_id)
    before = await facts.record(asked, step_id)
    for number, args in enumerate(JUNK.values(), start=1):
        await handle.signal(signal, args=args)
        await eventually(lambda number=number: refused(asked, step_id, number))
    record = await facts.record(asked, step_id)
    assert (record.state, record.version) == (State.UNKNOWN, before.version)
    assert "### Refused" in await facts.details(asked, step_id)
    await handle.signal("decide", GOOD)
    await one_post_and_confirmed(asked, world, step_id)


async def refused(surestep, step_id, number):
    return (await facts.record(surestep, step_id)).refused_decisions >= number


@pytest.mark.parametrize("shape", JUNK)
async def test_an_update_of_a_wrong_shape_is_answered_with_what_to_send(
    shape, asked, world, client, step_id
):
    handle = client.get_workflow_handle(step_id)
    with pytest.raises(WorkflowUpdateFailedError):
        await handle.execute_update("decide", args=JUNK[shape])
    await handle.execute_update("decide", GOOD)
    await one_post_and_confirmed(asked, world, step_id)


async def test_a_decision_as_json_text_is_understood(asked, world, client, step_id):
    await client.get_workflow_handle(step_id).signal("decide", json.dumps(GOOD))
    await one_post_and_confirmed(asked, world, step_id)


async def test_a_signal_of_an_unknown_name_is_shown_with_the_names_there_are(
    asked, world, client, step_id
):
    handle = client.get_workflow_handle(step_id)
    for args in ([], [GOOD], [GOOD, GOOD]):
        await handle.signal("Decide", args=args)
    await eventually(lambda: refused(asked, step_id, 3))
    shown = await facts.details(asked, step_id)
    assert "'Decide'" in shown
    assert "decide and notice" in shown
    await handle.signal("decide", GOOD)
    await one_post_and_confirmed(asked, world, step_id)


async def test_two_thousand_junk_signals_do_not_bury_the_one_that_counts(
    asked, world, client, step_id
):
    handle = client.get_workflow_handle(step_id)
    run = (await handle.describe()).run_id
    shapes = list(JUNK.values())
    for _ in range(20):
        batch = [handle.signal("decide", args=shapes[n % len(shapes)]) for n in range(100)]
        await asyncio.gather(*batch)
    stopwatch = facts.Stopwatch()
    await handle.signal("decide", GOOD)
    outcome = await one_post_and_confirmed(asked, world, step_id)
    assert stopwatch.seconds < 10
    assert len(outcome.evidence) < 100
    assert (await handle.describe()).run_id != run
    assert await asked.run(step_id, tools.blind(order="o-1", cents=2500)) == outcome


async def test_junk_alone_does_not_let_the_history_grow(asked, client, step_id, monkeypatch):
    monkeypatch.setattr("workflows.settling.EVENTS_LIMIT", 100)
    handle = client.get_workflow_handle(step_id)
    run = (await handle.describe()).run_id
    await asyncio.gather(*(handle.signal("decide", "junk") for _ in range(150)))

    async def renewed():
        return (await handle.describe()).run_id != run

    await eventually(renewed)
    record = await facts.record(asked, step_id)
    assert record.state is State.UNKNOWN


async def test_signals_before_the_plan_are_kept_and_answered(working, world, client, step_id):
    async with working(tools.blind) as surestep:
        pass
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    await surestep.start(step_id, tools.blind(order="o-1", cents=2500))
    handle = client.get_workflow_handle(step_id)
    for args in JUNK.values():
        await handle.signal("decide", args=args)
    await handle.signal("decide", {"verdict": "retry", "by": "Ada"})
    async with working(tools.blind):
        record = await facts.parked(surestep, step_id)
        assert record.refused_decisions == len(JUNK) + 1
        await handle.signal("decide", GOOD)
        await one_post_and_confirmed(surestep, world, step_id)
