"""The Web UI's "Start Workflow Like This One", with the same id, a new one, or edited input."""

import asyncio

import pytest
from temporalio.service import RPCError, RPCStatusCode

from surestep import InvalidArguments, State
from surestep.visibility import ANOMALY, NEEDS_HUMAN, STATE, UNKNOWN_SINCE
from tests.saying import say
from tests.steps import facts, tools
from tests.steps.operators import (
    LIMIT,
    SIGHTED,
    TOOLS,
    as_another_language,
    charge,
    one_effect_under_one_key,
    start_like,
    told_apart,
)
from tests.waiting import eventually


async def attributes(surestep, step_id) -> dict:
    described = await surestep.handle(step_id).describe()
    return {pair.key.name: pair.value for pair in described.typed_search_attributes}


async def test_a_copy_of_an_ended_step_finds_its_effect(working, world, client, step_id):
    ids = {tool: f"{step_id}/{tool.name}" for tool in TOOLS}
    async with working(*TOOLS) as surestep:
        await asyncio.gather(*(surestep.run(one, charge(tool)) for tool, one in ids.items()))
        for one in ids.values():
            await start_like(client, one)
        for tool, one in ids.items():
            await told_apart(surestep, world, tool, one, word="a step of this id ran before")
        for tool in SIGHTED:  # the agent, which submits it again, is attached to the copy
            outcome = await surestep.run(ids[tool], charge(tool), within=LIMIT)
            assert outcome.state is State.CONFIRMED


async def test_a_step_that_is_open_cannot_be_copied_under_its_own_id(
    working, world, client, step_id
):
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep:
        await surestep.start(step_id, charge(tools.blind))
        record = await facts.parked(surestep, step_id)
        with pytest.raises(RPCError) as refused:
            await start_like(client, step_id)
        assert refused.value.status is RPCStatusCode.ALREADY_EXISTS
        assert await facts.record(surestep, step_id) == record


async def test_a_copy_of_a_terminated_step_asks_again_and_shows_its_own_state(
    working, world, client, step_id
):
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep:
        await surestep.start(step_id, charge(tools.blind))
        await facts.parked(surestep, step_id)
        before = (await attributes(surestep, step_id))[UNKNOWN_SINCE]
        await client.get_workflow_handle(step_id).terminate("a test")
        await start_like(client, step_id)
        record = await facts.parked(surestep, step_id)
        assert "a step of this id ran before" in facts.told(record)
        shown = await attributes(surestep, step_id)
        assert shown[UNKNOWN_SINCE] > before
        assert shown[NEEDS_HUMAN]
        await say(surestep, step_id, "confirm", by="ops")
        await surestep.handle(step_id).outcome(within=LIMIT)
    await one_effect_under_one_key(world, f"{step_id}/blind", requests=1)


async def test_a_copy_under_a_new_id_is_an_intended_repeat_with_a_key_and_a_state_of_its_own(
    working, world, client, step_id
):
    """The first one has two effects, and the other waits for a human; the copies must not."""
    first, other = f"{step_id}/first", f"{step_id}/other"
    await world.fault(f"{first}/*", write=["twice"])
    await world.fault(f"{other}/*", write=["reply_lost"])
    async with working(tools.asynchronous, tools.blind) as surestep:
        await surestep.start(first, charge(tools.asynchronous))
        await surestep.start(other, charge(tools.blind))
        await eventually(lambda: has(surestep, first, ANOMALY))
        await eventually(lambda: has(surestep, other, UNKNOWN_SINCE))
        for one in (first, other):
            await start_like(client, one, f"{one}/again")
            outcome = await surestep.handle(f"{one}/again").outcome(within=LIMIT)
            assert outcome.state is State.CONFIRMED
            shown = await attributes(surestep, f"{one}/again")
            assert (shown[STATE], shown[NEEDS_HUMAN]) == ("confirmed", False)
            assert not {UNKNOWN_SINCE, ANOMALY} & shown.keys()
    keys = {one.key for one in await world.effects(f"{step_id}/*")}
    assert keys == {
        f"{first}/asynchronous",
        f"{first}/again/asynchronous",
        f"{other}/blind",
        f"{other}/again/blind",
    }


async def has(surestep, step_id, attribute) -> bool:
    return attribute in await attributes(surestep, step_id)


async def test_a_copy_with_edited_input_is_refused_because_its_key_is_taken(
    working, world, client, step_id
):
    """Once after an outcome, and once after a termination with the request under way."""
    known = [*TOOLS, tools.keyed_blind]
    ids = {
        (tool, how): f"{step_id}/{how}/{tool.name}" for tool in known for how in ("ended", "cut")
    }
    async with working(*known) as surestep:
        for (tool, how), one in ids.items():
            if how == "cut":
                await world.fault(f"{one}/*", write=["expect_kill"])
            await surestep.start(one, charge(tool))
        for (tool, how), one in ids.items():
            await facts.applied(world, f"{one}/*")
            if how == "cut":
                await client.get_workflow_handle(one).terminate("a test")
            else:
                await surestep.handle(one).outcome(within=LIMIT)
            await start_like(client, one, edited=as_another_language(tool, cents=9900))
        for (tool, _), one in ids.items():
            with pytest.raises(InvalidArguments, match=r"cents: 2500 there, 9900 now"):
                await surestep.handle(one).outcome(within=LIMIT)
            await one_effect_under_one_key(world, f"{one}/{tool.name}", requests=1)
