"""R19 on a real server: asked once, bound to the arguments, judged by when the answer was sent."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from surestep import Advice, ApprovalRule, State, Surestep
from tests.steps import facts, tools
from tests.steps.operators import LIMIT, charge
from tests.waiting import eventually

EXPIRES = timedelta(seconds=4)


def approved(expires: timedelta = timedelta(hours=1), **promised: object):
    rule = ApprovalRule(expires=expires)
    return tools.careful("approved", "keyed", key=tools.KEYED, approval=rule, **promised)


refund = approved(**tools.PROMPT)
hurried = approved(EXPIRES, **tools.PROMPT)


async def approve(surestep: Surestep, step_id: str, **said: object) -> None:
    """By signal, as from the Web UI: nobody has to be there to take it."""
    seen = await facts.record(surestep, step_id)
    assert seen
    said = {"verdict": "approve", "by": "Ada", "version": seen.version} | said
    await surestep.client.get_workflow_handle(step_id).signal("decide", said)


async def test_nothing_is_sent_before_somebody_approves_it(working, world, step_id):
    async with working(refund) as surestep:
        await surestep.start(step_id, charge(refund))
        waiting = asyncio.create_task(surestep.run(step_id, charge(refund)))
        record = await facts.parked(surestep, step_id)
        assert record.state is State.PLANNED
        assert await facts.posts(world, f"{step_id}/*") == []
        await eventually(lambda: _listed(surestep, step_id))
        shown = await facts.details(surestep, step_id)
        assert "o-1 must be approved before it is sent" in shown
        assert record.input_hash in shown
        ruling = await surestep.decide(step_id, "approve", by="Ada", version=record.version)
        assert ruling.taken, ruling.why
        outcome = await waiting
    assert outcome.state is State.CONFIRMED
    assert "Ada decided to approve" in facts.told(outcome)
    assert await world.count(f"{step_id}/*") == 1


async def _listed(surestep: Surestep, step_id: str) -> bool:
    return step_id in [one.step_id for one in await surestep.unresolved()]


async def test_what_is_refused_is_never_sent_and_the_agent_is_told(working, world, step_id):
    async with working(refund) as surestep:
        await surestep.start(step_id, charge(refund))
        await facts.parked(surestep, step_id)
        assert (await surestep.decide(step_id, "refuse", by="Ada", note="not this one")).taken
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.NOT_FOUND
    assert outcome.advice is Advice.STOP
    assert "refused by Ada" in outcome.for_model()
    assert await facts.posts(world, f"{step_id}/*") == []


async def test_an_agent_that_submits_again_while_approval_is_asked_asks_nobody_again(
    working, world, step_id
):
    async with working(refund) as surestep:
        await surestep.start(step_id, charge(refund))
        callers = [asyncio.create_task(surestep.run(step_id, charge(refund))) for _ in range(4)]
        record = await facts.parked(surestep, step_id)
        await surestep.start(step_id, charge(refund))
        again = await facts.record(surestep, step_id)
        assert again
        assert again.version == record.version
        await approve(surestep, step_id)
        outcomes = await asyncio.gather(*callers)
        after = await surestep.run(step_id, charge(refund))
    assert {one.state for one in (*outcomes, after)} == {State.CONFIRMED}
    assert "Do not call it again" in after.for_model()
    assert facts.told(after).count("a human is asked") == 1
    assert await world.count(f"{step_id}/*") == 1


async def test_an_approval_that_was_sent_in_time_counts_although_nobody_was_there_to_read_it(
    working, world, step_id
):
    async with working(hurried) as surestep:
        await surestep.start(step_id, charge(hurried))
        record = await facts.parked(surestep, step_id)
        await approve_without_a_worker(surestep, step_id, record.version)
    await passed(record.asked + EXPIRES)
    async with working(hurried) as surestep:
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED, facts.told(outcome)
    assert await world.count(f"{step_id}/*") == 1


async def test_an_approval_that_was_sent_too_late_is_refused_and_recorded(working, world, step_id):
    async with working(hurried) as surestep:
        await surestep.start(step_id, charge(hurried))
        record = await facts.parked(surestep, step_id)
    await passed(record.asked + EXPIRES)
    said = {"verdict": "approve", "by": "Ada", "version": record.version}
    await surestep.client.get_workflow_handle(step_id).signal("decide", said)
    async with working(hurried) as surestep:
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.NOT_FOUND, facts.told(outcome)
    assert "expired" in facts.told(outcome)
    assert "was not run" in outcome.for_model()
    assert await facts.posts(world, f"{step_id}/*") == []


async def test_a_crash_after_the_approval_uses_it_for_one_effect(working, world, step_id):
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(refund) as surestep:
        await surestep.start(step_id, charge(refund))
        await facts.parked(surestep, step_id)
        await approve(surestep, step_id)
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert facts.told(outcome).count("decided to approve") == 1
    assert await world.count(f"{step_id}/*") == 1


@pytest.mark.parametrize("said", [{"input_hash": "v1:0"}, {"version": 99}, {"version": None}])
async def test_an_approval_of_something_else_is_refused_in_the_details(
    said, working, world, step_id
):
    async with working(refund) as surestep:
        await surestep.start(step_id, charge(refund))
        await facts.parked(surestep, step_id)
        await approve(surestep, step_id, **{"version": None} | said)
        await eventually(lambda: _refused(surestep, step_id))
        assert await facts.posts(world, f"{step_id}/*") == []


async def _refused(surestep: Surestep, step_id: str) -> bool:
    return "Ada decided to approve: refused" in await facts.details(surestep, step_id)


async def approve_without_a_worker(surestep: Surestep, step_id: str, version: int) -> None:
    said = {"verdict": "approve", "by": "Ada", "version": version}
    await surestep.client.get_workflow_handle(step_id).signal("decide", said)


async def passed(moment: datetime) -> None:
    async def is_past() -> bool:
        return datetime.now(UTC) > moment + timedelta(seconds=1)

    await eventually(is_past)
