"""What a later attempt is told does not speak for an earlier one that is in doubt."""

from datetime import timedelta

import pytest

from surestep import State, StepPending
from tests.http import tools
from tests.waiting import eventually

LIMIT = timedelta(seconds=40)


async def posts(world, key):
    return [one for one in await world.requests(key) if one.method == "POST"]


@pytest.mark.parametrize("second", ["refuse:404", "refuse:409", "refuse:422"])
async def test_a_refusal_after_a_lost_answer_is_looked_at_and_the_effect_is_found(
    second, working, at_world, step_id
):
    key = f"{step_id}/keyed"
    # Looks fail until the key is sent again.
    await at_world.fault(key, write=["reply_lost", second], lookup=["error:500"] * 2)
    async with working(tools.keyed) as surestep:
        outcome = await surestep.run(step_id, tools.keyed(order="o-1", cents=1), within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert len(await posts(at_world, key)) == 2
    assert await at_world.count(key) == 1


async def test_where_nobody_can_look_a_refusal_after_a_lost_answer_is_asked_about(
    working, at_world, step_id
):
    key = f"{step_id}/keyed_blind"
    await at_world.fault(key, write=["reply_lost", "refuse:422"])
    async with working(tools.keyed_blind) as surestep:
        handle = await surestep.start(step_id, tools.keyed_blind(order="o-1", cents=1))

        async def asked():
            return any(record.asked for record in await handle.records())

        await eventually(asked)
        with pytest.raises(StepPending) as still:
            await handle.outcome(within=timedelta(seconds=0.2))
    assert still.value.state == State.UNKNOWN
    assert await at_world.count(key) == 1


async def test_refusals_in_front_of_the_service_use_up_neither_key_nor_patience(
    working, at_world, step_id
):
    key = f"{step_id}/keyed"
    await at_world.fault(key, write=["rate_limited:1", "refuse:401", "honest"])
    async with working(tools.keyed) as surestep:
        outcome = await surestep.run(step_id, tools.keyed(order="o-1", cents=1), within=LIMIT)
    assert outcome.state is State.CONFIRMED
    sent = await posts(at_world, key)
    assert len(sent) == 3
    assert len({(one.key, one.sha256) for one in sent}) == 1
    assert await at_world.count(key) == 1
