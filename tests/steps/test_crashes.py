"""Workers that die, freeze, wake up and are stopped, as real processes."""

import asyncio
from datetime import timedelta

import pytest

from surestep import Advice, State, Surestep
from surestep.tool import Tools
from tests.steps import facts, tools
from tests.steps.acting import acting_worker, deciding_worker
from tests.steps.operators import charge

# A dead worker is noticed ten seconds after its last sign of life; the rest is for a slow machine.
NOTICED = timedelta(seconds=50)

pytestmark = pytest.mark.timeout(100)


async def test_a_worker_killed_while_requests_are_under_way_is_replaced(
    workers, client, world, step_id
):
    """Three effects have happened and were not told, three requests were swallowed; one is not
    yet sent."""
    surestep = Surestep(client, task_queue=workers.queue)
    first = await workers.start()
    ids = {}
    for fault in ("expect_kill", "hang_uncommitted"):
        for tool in (tools.keyed, tools.lookup, tools.blind):
            ids[tool, fault] = one = f"{step_id}/{fault}-{tool.name}"
            await world.fault(f"{one}/*", write=[fault])
            await surestep.start(one, charge(tool))
    unsent = f"{step_id}/unsent"
    await world.fault(f"{unsent}/*", lookup=["hang"])
    await surestep.start(unsent, charge(tools.lookup))
    for one in ids.values():
        await facts.arrived(world, f"{one}/*")
    await facts.arrived(world, f"{unsent}/*", method="GET")
    await first.kill()
    await workers.start()
    ending = [one for (tool, _), one in ids.items() if tool is not tools.blind]
    for one in ending:
        outcome = await surestep.handle(one).outcome(within=NOTICED)
        assert outcome.state is State.CONFIRMED, facts.told(outcome)
        assert "the worker was lost after it began to send" in facts.told(outcome)
        assert await world.count(f"{one}/*") == 1
    outcome = await surestep.handle(unsent).outcome(within=NOTICED)
    assert outcome.state is State.CONFIRMED, facts.told(outcome)
    assert "lost before it sent anything" in facts.told(outcome)
    assert len(await facts.posts(world, f"{unsent}/*")) == 1
    for fault, effects in (("expect_kill", 1), ("hang_uncommitted", 0)):
        record = await facts.parked(surestep, ids[tools.blind, fault], within=50)
        assert record.state is State.UNKNOWN
        assert "the worker was lost after it began to send" in facts.told(record)
        assert await world.count(record.action_id) == effects
        assert len(await facts.posts(world, record.action_id)) == 1
    for tool, requests in ((tools.keyed, 2), (tools.lookup, 2)):
        key = f"{ids[tool, 'hang_uncommitted']}/{tool.name}"
        sent = await facts.posts(world, key)
        assert len(sent) == requests
        assert len({(one.key, one.sha256) for one in sent}) == 1
        assert len(await facts.posts(world, f"{ids[tool, 'expect_kill']}/{tool.name}")) == 1


async def test_a_frozen_worker_that_wakes_up_does_not_send(workers, client, world, step_id):
    """It slept in the look before one send, and while two requests were under way. Another worker
    has done all three by the time it wakes up."""
    unsent, sent = f"{step_id}/unsent", [f"{step_id}/keyed", f"{step_id}/lookup"]
    registry, surestep = Tools(*tools.tools), Surestep(client, task_queue=workers.queue)
    await world.fault(f"{unsent}/*", lookup=["hang"])
    async with deciding_worker(client, registry, workers.queue):
        first = await workers.start("-m", "tests.steps.acting", "3")
        await surestep.start(unsent, charge(tools.lookup))
        for tool, one in zip((tools.keyed, tools.lookup), sent, strict=True):
            await world.fault(f"{one}/*", write=["hang_uncommitted"])
            await surestep.start(one, charge(tool))
        await facts.arrived(world, f"{unsent}/*", method="GET")
        for one in sent:
            await facts.arrived(world, f"{one}/*")
        first.freeze()
        async with acting_worker(client, registry, workers.queue):
            for one in (unsent, *sent):
                outcome = await surestep.handle(one).outcome(within=NOTICED)
                assert outcome.state is State.CONFIRMED, facts.told(outcome)
                when = "before it sent anything" if one == unsent else "after it began to send"
                assert f"lost {when}" in facts.told(outcome)
            first.thaw()
            first.ask_to_stop()
            await first.left()
    assert len(await facts.posts(world, f"{unsent}/*")) == 1
    for one in (unsent, *sent):
        assert await world.count(f"{one}/*") == 1
        requests = await facts.posts(world, f"{one}/*")
        assert len({(each.key, each.sha256) for each in requests}) == 1


async def test_a_worker_that_is_stopped_waits_for_its_request(workers, client, world, step_id):
    key = f"{step_id}/blind"
    await world.fault(key, write=["expect_kill"])
    surestep = Surestep(client, task_queue=workers.queue)
    first = await workers.start(grace=30)
    handle = await surestep.start(step_id, charge(tools.blind))
    await facts.arrived(world, key)
    first.ask_to_stop()
    await workers.start()
    assert first.alive
    await world.release()
    assert await first.left() == 0
    outcome = await handle.outcome(within=NOTICED)
    assert outcome.state is State.CONFIRMED, facts.told(outcome)
    assert outcome.advice is Advice.DONE
    assert "confirmed by the service's response" in facts.told(outcome)
    assert await world.count(key) == 1
    assert len(await facts.posts(world, key)) == 1


async def test_a_request_cut_off_by_a_stop_is_in_doubt_and_says_why(
    workers, client, world, step_id
):
    ids = {tool: f"{step_id}/{tool.name}" for tool in (tools.keyed, tools.lookup, tools.blind)}
    surestep = Surestep(client, task_queue=workers.queue)
    first = await workers.start(grace=0.5)
    for tool, one in ids.items():
        await world.fault(f"{one}/*", write=["expect_kill"])
        await surestep.start(one, charge(tool))
    await asyncio.gather(*(facts.arrived(world, f"{one}/*") for one in ids.values()))
    first.ask_to_stop()
    assert await first.left() == 0
    await workers.start()
    for tool in (tools.keyed, tools.lookup):
        outcome = await surestep.handle(ids[tool]).outcome(within=NOTICED)
        assert outcome.state is State.CONFIRMED, facts.told(outcome)
        assert "the worker was shut down" in facts.told(outcome)
    record = await facts.parked(surestep, ids[tools.blind], within=50)
    assert "the worker was shut down" in facts.told(record)
    for one in ids.values():
        assert await world.count(f"{one}/*") == 1
        assert len(await facts.posts(world, f"{one}/*")) == 1
