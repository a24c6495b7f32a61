"""A server without any worker: nothing is lost, and every call says what it waits for."""

import asyncio
from datetime import timedelta

import pytest

from surestep import DecisionPending, State, StepPending, Surestep
from tests.steps import facts, tools
from tests.steps.operators import LIMIT, charge, one_effect_under_one_key
from tests.waiting import eventually

MOMENT = timedelta(seconds=0.3)


async def test_a_step_submitted_without_any_worker_is_done_when_one_comes(
    workers, client, world, step_id
):
    surestep = Surestep(client, task_queue=workers.queue)
    with pytest.raises(StepPending, match="do not repeat it") as pending:
        await surestep.run(step_id, charge(tools.keyed), within=MOMENT)
    with pytest.raises(StepPending):
        await surestep.recall(step_id, within=MOMENT)
    assert await surestep.handle(step_id).state() == "unsettled"
    assert await world.requests() == []
    await workers.start()
    outcome = await pending.value.handle.outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    await one_effect_under_one_key(world, f"{step_id}/keyed", requests=1)


async def asked_and_left(working, world, step_id) -> tuple[Surestep, int]:
    """A step that waits for a human, and the version that people see; then its worker leaves."""
    await world.fault(f"{step_id}/*", write=["never_arrives", "honest"])
    async with working(tools.blind) as surestep:
        await surestep.start(step_id, charge(tools.blind))
        record = await facts.parked(surestep, step_id)
    return surestep, record.version


async def test_who_decides_without_a_worker_is_told_and_can_send_it_again(working, world, step_id):
    surestep, version = await asked_and_left(working, world, step_id)
    with pytest.raises(DecisionPending, match="is a worker running") as pending:
        await surestep.decide(step_id, "retry", by="Ada", version=version, within=MOMENT)
    decision = pending.value.decision
    again = {"by": "Ada", "version": version, "id": decision.id}
    async with working(tools.blind):
        await surestep.decide(step_id, decision.verdict, **again, within=LIMIT)
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED, facts.told(outcome)
    await one_effect_under_one_key(world, f"{step_id}/blind", requests=2)


async def test_more_decisions_than_a_step_can_take_at_once_are_all_answered(
    working, world, step_id, caplog
):
    """The server admits ten updates to a step, and in the end drops those that no worker takes."""
    surestep, version = await asked_and_left(working, world, step_id)
    humans = [{"by": f"human {number}", "version": version} for number in range(25)]
    deciding = [asyncio.create_task(surestep.decide(step_id, "retry", **human)) for human in humans]

    async def some_are_turned_away() -> bool:
        return any("is a worker running" in one.getMessage() for one in caplog.records)

    await eventually(some_are_turned_away, within=60)
    async with working(tools.blind):
        rulings = await asyncio.wait_for(asyncio.gather(*deciding), 60)
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert [ruling.taken for ruling in rulings].count(True) == 1
    assert all(ruling.why for ruling in rulings)
    await one_effect_under_one_key(world, f"{step_id}/blind", requests=2)
