"""One action of one step, on a real server, against a service that misbehaves."""

import asyncio

import pytest

from surestep import Advice, State, StepConflict
from tests.steps import tools


@pytest.fixture(autouse=True)
def _world_url(world, monkeypatch):
    monkeypatch.setenv("WORLD_URL", world.url)


async def test_an_undisturbed_action_happens_once(working, world, step_id):
    async with working(tools.keyed) as surestep:
        outcome = await surestep.run(step_id, tools.keyed(order="o-1", cents=2500))
    assert outcome.state is State.CONFIRMED
    assert outcome.advice is Advice.DONE
    assert outcome.result["body"] == {"order": "o-1", "cents": 2500}
    assert await world.count(f"{step_id}/keyed") == 1


async def test_a_lost_reply_is_found_without_a_second_request(working, world, step_id):
    await world.fault(f"{step_id}/lookup", write=["reply_lost"])
    async with working(tools.lookup) as surestep:
        outcome = await surestep.run(step_id, tools.lookup(order="o-1", cents=2500))
    assert outcome.state is State.CONFIRMED
    assert await world.count(f"{step_id}/lookup") == 1
    posts = [one for one in await world.requests(f"{step_id}/lookup") if one.method == "POST"]
    assert len(posts) == 1


async def test_a_hundred_callers_with_one_step_id_make_one_effect(working, world, step_id):
    async with working(tools.keyed) as surestep:
        action = tools.keyed(order="o-1", cents=2500)
        outcomes = await asyncio.gather(*(surestep.run(step_id, action) for _ in range(100)))
    assert await world.count(f"{step_id}/keyed") == 1
    assert all(outcome == outcomes[0] for outcome in outcomes)


async def test_of_two_inputs_for_one_id_one_wins_and_the_others_are_told(working, world, step_id):
    async with working(tools.keyed) as surestep:
        actions = [tools.keyed(order="o-1", cents=cents) for cents in (2500, 9900) * 10]
        results = await asyncio.gather(
            *(surestep.run(step_id, action) for action in actions), return_exceptions=True
        )
    (effect,) = await world.effects(f"{step_id}/keyed")
    for action, result in zip(actions, results, strict=True):
        if action.arguments["cents"] == effect.body["cents"]:
            assert result.state is State.CONFIRMED
        else:
            assert isinstance(result, StepConflict)
            assert "keyed.cents" in str(result)
