"""Agents, frameworks and models that ask for the same thing again, in the ways they do."""

import asyncio
from datetime import timedelta

import pytest

from surestep import Advice, State, StepPending
from tests.saying import say
from tests.steps import facts, tools
from tests.steps.operators import LIMIT, charge, one_effect_under_one_key
from tests.steps.tools import Charge


async def test_a_turn_that_is_repeated_under_a_new_call_id_is_the_same_step(
    working, world, step_id
):
    """The first turn's reply was lost; the model's call ids differ, and no key knows of them."""
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.lookup) as surestep:
        for call_id in ("c-111", "c-222", "c-333"):
            outcome = await surestep.run(
                f"{step_id}/refund-1001", charge(tools.lookup), label=call_id, within=LIMIT
            )
            assert outcome.state is State.CONFIRMED
    await one_effect_under_one_key(world, f"{step_id}/refund-1001/lookup", requests=1)


async def test_an_intended_repeat_runs_once_however_often_each_of_the_two_is_submitted(
    working, world, step_id
):
    async with working(tools.keyed) as surestep:
        for _ in range(3):
            for turn in ("turn-5", "turn-9"):
                await surestep.run(f"{step_id}/{turn}", charge(tools.keyed), within=LIMIT)
    assert await world.count(f"{step_id}/*") == 2
    assert len(await facts.posts(world, f"{step_id}/*")) == 2


async def test_a_body_that_runs_from_its_top_after_each_interrupt_does_each_step_once(
    working, world, step_id
):
    names, answered = ("first", "second", "third"), set()

    async def runs_to_its_end() -> bool:
        for name in names:
            await surestep.run(f"{step_id}/{name}", charge(tools.blind), within=LIMIT)
            if name != "third" and name not in answered:
                answered.add(name)
                return False
        return True

    async with working(tools.blind) as surestep:
        while not await runs_to_its_end():
            pass
    keys = [effect.key for effect in await world.effects(f"{step_id}/*")]
    assert keys == [f"{step_id}/{name}/blind" for name in names]
    assert len(await facts.posts(world, f"{step_id}/*")) == 3


async def test_a_key_that_the_model_invents_is_never_sent_and_makes_no_second_action(
    working, world, step_id
):
    async with working(tools.keyed) as surestep:
        for invented in ("m-1", "m-2"):
            action = tools.keyed(order="o-1", cents=2500, idempotency_key=invented)
            assert (await surestep.run(step_id, action)).state is State.CONFIRMED
    (request,) = await facts.posts(world, f"{step_id}/*")
    assert request.key == f"{step_id}/keyed"
    assert (await world.effects(f"{step_id}/*"))[0].body.keys() == Charge.model_fields.keys()


async def test_a_model_that_proposes_it_every_round_is_told_not_to_and_sends_once(
    working, world, step_id
):
    await world.fault(f"{step_id}/*", write=["hang"], lookup=["honest", *["hang"] * 100])
    async with working(tools.lookup) as surestep:
        for _ in range(10):
            with pytest.raises(StepPending, match="do not repeat it, wait on the handle"):
                await surestep.run(
                    step_id, charge(tools.lookup), within=timedelta(milliseconds=300)
                )
        record = await facts.record(surestep, step_id)
    assert record.looks.total < 10, "the looks were multiplied by the calls"
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_agents_that_share_an_intent_share_its_step(working, world, step_id):
    async with working(tools.blind) as surestep:
        comment = f"{step_id}/pr-1256/file-3/line-7"
        outcomes = await asyncio.gather(
            *(surestep.run(comment, charge(tools.blind), run=f"agent-{n}") for n in range(4))
        )
        own = [surestep.run(f"{comment}/agent-{n}", charge(tools.blind)) for n in range(2)]
        await asyncio.gather(*own)
    assert all(outcome == outcomes[0] for outcome in outcomes)
    assert await world.count(f"{comment}/blind") == 1
    assert await world.count(f"{step_id}/*") == 3  # who names himself in the id acts for himself


async def test_a_call_that_is_made_again_after_its_approval_finds_it_done(working, world, step_id):
    await world.fault(f"{step_id}/*", write=["never_arrives"])
    async with working(tools.blind) as surestep:
        await surestep.start(step_id, charge(tools.blind))
        await facts.parked(surestep, step_id)
        await say(surestep, step_id, "retry", by="Ada")
        first = await surestep.run(step_id, charge(tools.blind), within=LIMIT)
        again = await surestep.run(step_id, charge(tools.blind), within=LIMIT)
    assert again == first
    assert again.advice is Advice.DONE
    assert await world.count(f"{step_id}/*") == 1
    assert len(await facts.posts(world, f"{step_id}/*")) == 2
