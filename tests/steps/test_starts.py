"""Steps are started once, whatever becomes of the call that starts them, and of the caller."""

import asyncio
import os

import pytest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from surestep import Decision, State, StepConflict, Surestep
from surestep.answer import answer_to
from surestep.outcome import StepOutcome
from tests import prepared
from tests.prepared import Prepared
from tests.saying import say
from tests.steps import facts, tools
from tests.steps.operators import LIMIT, charge, one_effect_under_one_key
from tests.steps.proxy import Proxy


@pytest.fixture
async def proxy(temporal_address):
    async with Proxy(temporal_address) as running:
        yield running


async def through(proxy: Proxy, surestep: Surestep) -> Surestep:
    """A client of the same task queue that sees the server through the proxy only."""
    client = await Client.connect(proxy.address, data_converter=pydantic_data_converter)
    return Surestep(client, task_queue=surestep.task_queue)


async def runs(client: Client, step_id: str) -> int:
    return (await client.count_workflows(f"WorkflowId = '{step_id}'")).count


@pytest.mark.parametrize("caller", ["waits", "gives up"])
async def test_a_start_whose_reply_is_lost_has_happened_once(
    caller, proxy, working, world, client, step_id
):
    async with working(tools.blind) as surestep:
        agent = await through(proxy, surestep)
        proxy.swallows = True
        starting = asyncio.create_task(agent.start(step_id, charge(tools.blind)))
        await facts.applied(world, f"{step_id}/blind")
        assert not starting.done()
        if caller == "gives up":
            starting.cancel()
            await asyncio.wait([starting])
        proxy.cut()
        if caller == "waits":
            await starting
        outcome = await agent.run(step_id, charge(tools.blind), within=LIMIT)
        with pytest.raises(StepConflict):
            await agent.start(step_id, tools.blind(order="o-1", cents=9900))
    assert outcome.state is State.CONFIRMED
    assert await runs(client, step_id) == 1
    await one_effect_under_one_key(world, f"{step_id}/blind", requests=1)


async def test_a_decision_whose_reply_is_lost_is_answered_as_taken(proxy, working, world, step_id):
    await world.fault(f"{step_id}/*", write=["never_arrives", "honest"])
    async with working(tools.blind) as surestep:
        human = await through(proxy, surestep)
        await surestep.start(step_id, charge(tools.blind))
        record = await facts.parked(surestep, step_id)
        decision = Decision(verdict="retry", by="Ada", id="d-1", version=record.version)
        proxy.swallows = True
        deciding = asyncio.create_task(answer_to(human.client, step_id, decision))
        await facts.applied(world, f"{step_id}/blind")
        proxy.cut()
        ruling = await deciding
        assert ruling.taken, ruling.why
        outcome = await human.run(step_id, charge(tools.blind), within=LIMIT)
    assert outcome.state is State.CONFIRMED
    await one_effect_under_one_key(world, f"{step_id}/blind", requests=2)


async def test_a_thousand_calls_for_a_hundred_steps_make_a_hundred_effects(
    working, world, client, step_id
):
    """Each step is asked for ten times, three milliseconds apart, by agents that know nothing of
    each other; half of the services would do everything twice."""
    steps = {f"{step_id}/{n}": (tools.keyed, tools.blind)[n % 2] for n in range(100)}

    async def call(one: str, tool, number: int) -> StepOutcome:
        await asyncio.sleep(number * 0.003)
        return await surestep.run(one, charge(tool), run=f"agent-{number}", within=2 * LIMIT)

    async with working(tools.keyed, tools.blind) as surestep:
        calls = {one: [call(one, tool, n) for n in range(10)] for one, tool in steps.items()}
        told = await asyncio.gather(*(asyncio.gather(*ten) for ten in calls.values()))
    for one, ten in zip(steps, told, strict=True):
        assert ten[0].state is State.CONFIRMED
        assert all(outcome == ten[0] for outcome in ten)
        assert ten[0].step_id == one
    assert await world.count(f"{step_id}/*") == 100
    assert len({effect.key for effect in await world.effects(f"{step_id}/*")}) == 100
    assert len(await facts.posts(world, f"{step_id}/*")) == 100


async def test_a_caller_that_is_killed_comes_back_to_its_step(
    working, world, temporal_address, step_id
):
    await world.fault(f"{step_id}/*", write=["expect_kill"])
    async with working(tools.blind) as surestep:
        first = await agent(temporal_address, surestep, step_id)
        await facts.applied(world, f"{step_id}/*")
        first.kill()
        await first.wait()
        second = await agent(temporal_address, surestep, step_id)
        await facts.parked(surestep, step_id)
        second.kill()
        await second.wait()
        await say(surestep, step_id, "confirm", by="Ada", receipt_id="ef-1")
        third = await agent(temporal_address, surestep, step_id)
        said, _ = await third.communicate()
        outcome = StepOutcome.model_validate_json(said.splitlines()[-1])
        assert outcome == await surestep.recall(step_id)
    assert outcome.actions[0].receipt.id == "ef-1"
    await one_effect_under_one_key(world, f"{step_id}/blind", requests=1)


async def agent(address: str, surestep: Surestep, step_id: str) -> Prepared:
    """An agent in a process of its own, once it is connected."""
    settings = {"TEMPORAL_ADDRESS": address, "SURESTEP_TASK_QUEUE": surestep.task_queue}
    running = await prepared.begin(
        *("-m", "tests.steps.calling", step_id), env={**os.environ, **settings}
    )
    assert running.stdout
    assert b"calling" in await asyncio.wait_for(running.stdout.readline(), 60)
    return running
