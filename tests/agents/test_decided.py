"""A restarted agent carries out what it has decided, and does not decide again."""

import asyncio
from datetime import timedelta

import pytest
from temporalio.client import Client

from surestep import CannotConnect, InvalidArguments, StepPending, Surestep
from surestep.agents import decided
from tests.saying import say
from tests.steps import facts, tools
from tests.steps.proxy import Proxy
from tests.waiting import eventually

LIMIT = timedelta(seconds=40)

LOST = ["honest"] + ["error:500"] * 99  # the look right before the send, and all after it


class Model:
    """It decides otherwise each time that it is asked."""

    def __init__(self, tool=tools.keyed, first=0):
        self._tool = tool
        self.asked = first

    async def decide(self):
        self.asked += 1
        return self._tool(order="o-1", cents=self.asked)


async def test_a_model_is_not_asked_again_what_it_has_decided(working, world, step_id):
    model = Model()
    async with working(tools.keyed) as surestep:
        first = await decided(surestep, step_id, model.decide, run="r", label="refund")
        again = await decided(surestep, step_id, model.decide, run="r", label="refund")
    assert again == first
    assert (first.run, first.label) == ("r", "refund")
    assert model.asked == 1
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_of_two_processes_that_decide_at_once_one_decision_counts(working, world, step_id):
    both = asyncio.Barrier(2)

    async def decide(cents):
        await both.wait()  # neither has found a step
        return [tools.keyed(order="o-1", cents=cents)]

    async with working(tools.keyed) as surestep:
        first, second = await asyncio.gather(
            *(decided(surestep, step_id, lambda cents=cents: decide(cents)) for cents in (1, 2))
        )
    assert first == second
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_step_that_was_ended_from_outside_goes_on_as_it_was_decided(
    working, world, client, step_id
):
    model = Model(tools.lookup)
    await world.fault(f"{step_id}/*", write=["reply_lost"], lookup=LOST)
    async with working(tools.lookup) as surestep:
        first = asyncio.create_task(decided(surestep, step_id, model.decide))
        await facts.applied(world, f"{step_id}/*")
        await client.get_workflow_handle(step_id).terminate()
        await world.fault(f"{step_id}/*", lookup=[])
        await asyncio.wait([first])
        outcome = await decided(surestep, step_id, model.decide)
    assert first.exception() is not None
    assert outcome.state == "confirmed"
    assert model.asked == 1
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_decision_that_could_not_be_used_is_made_again(working, world, step_id):
    wrong = Model(tools.lookup)
    async with working(tools.keyed) as surestep:
        with pytest.raises(Exception, match="no tool is named 'lookup'"):
            await decided(surestep, step_id, wrong.decide)
        right = Model(first=9)
        assert (await decided(surestep, step_id, right.decide)).state == "confirmed"
    assert (wrong.asked, right.asked) == (1, 10)


async def test_what_is_not_settled_within_the_limit_is_not_decided_again(working, world, step_id):
    model = Model(tools.blind)
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep:
        for _ in range(2):
            with pytest.raises(StepPending):
                await decided(surestep, step_id, model.decide, within=timedelta(seconds=0.2))
        await eventually(lambda: surestep.handle(step_id).exists())
        await facts.parked(surestep, step_id)
        await say(surestep, step_id, "confirm", by="ops", note="seen")
        assert (await decided(surestep, step_id, model.decide)).state == "confirmed"
    assert model.asked == 1


async def test_without_a_server_the_model_is_not_asked(temporal_address, step_id):
    model = Model()
    async with Proxy(temporal_address) as proxy:
        surestep = Surestep(await Client.connect(proxy.address))
        proxy.swallows = True
        with pytest.raises(CannotConnect):
            await decided(surestep, step_id, model.decide, within=timedelta(seconds=0.2))
    assert model.asked == 0


async def test_a_model_that_decides_nothing_starts_no_step(working, step_id):
    async def nothing():
        return []

    async with working(tools.keyed) as surestep:
        with pytest.raises(InvalidArguments, match="a step needs an action"):
            await decided(surestep, step_id, nothing)
        assert not await surestep.handle(step_id).exists()
