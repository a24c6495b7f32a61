"""What a service says by itself, for instance by webhook."""

from surestep import State
from tests.steps import facts, tools
from tests.steps.operators import LIMIT, charge
from tests.waiting import eventually


async def test_a_notice_under_our_key_settles_what_nobody_could_know(working, world, step_id):
    key = f"{step_id}/blind"
    await world.fault(key, write=["reply_lost"])
    async with working(tools.blind) as surestep:
        await surestep.start(step_id, charge(tools.blind))
        await facts.parked(surestep, step_id)
        (effect,) = await world.effects(key)
        await surestep.notice(step_id, key, id=effect.id)
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert outcome.actions[0].receipt.id == effect.id
    assert "a notice" in facts.told(outcome)
    assert len(await facts.posts(world, key)) == 1


async def test_a_notice_under_another_key_settles_nothing_and_is_seen(working, world, step_id):
    key = f"{step_id}/blind"
    await world.fault(key, write=["never_arrives"])
    async with working(tools.blind) as surestep:
        await surestep.start(step_id, charge(tools.blind))
        await facts.parked(surestep, step_id)
        await surestep.notice(step_id, "somebody/else", id="ef_1")

        async def seen():
            return "somebody/else" in await facts.details(surestep, step_id)

        await eventually(seen)
        record = await facts.record(surestep, step_id)
    assert record.state is State.UNKNOWN
    assert record.confirmation is None
    assert await world.count(key) == 0


async def test_a_notice_before_the_reply_is_kept_and_the_lost_reply_does_no_harm(
    working, world, step_id
):
    key = f"{step_id}/blind"
    await world.fault(key, write=["expect_kill"])
    async with working(tools.blind) as surestep:
        handle = await surestep.start(step_id, charge(tools.blind))
        await facts.applied(world, key)
        (effect,) = await world.effects(key)
        await surestep.notice(step_id, key, id=effect.id)
        outcome = await handle.outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert outcome.actions[0].anomalies == ()
    assert len(await facts.posts(world, key)) == 1


async def test_notices_that_come_again_and_the_reply_change_nothing(working, world, step_id):
    key = f"{step_id}/blind"
    await world.fault(key, write=["expect_kill"])
    async with working(tools.blind) as surestep:
        handle = await surestep.start(step_id, charge(tools.blind))
        await facts.applied(world, key)
        (effect,) = await world.effects(key)
        for _ in range(3):
            await surestep.notice(step_id, key, id=effect.id)
        await world.release(key)
        outcome = await handle.outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert outcome.actions[0].anomalies == ()
    assert outcome.actions[0].receipt.id == effect.id
    assert await world.count(key) == 1


async def test_a_notice_of_a_failure_ends_the_only_attempt(working, world, step_id):
    key = f"{step_id}/blind"
    await world.fault(key, write=["never_arrives"])
    async with working(tools.blind) as surestep:
        await surestep.start(step_id, charge(tools.blind))
        await facts.parked(surestep, step_id)
        await surestep.notice(step_id, key, happened=False, why="card declined")
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.REJECTED
    assert "card declined" in outcome.actions[0].why
    assert len(await facts.posts(world, key)) == 1
