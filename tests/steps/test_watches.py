"""A watch keeps what nobody has taken note of, whatever comes in meanwhile."""

from temporalio.client import WorkflowExecutionStatus

from surestep import Surestep
from tests.saying import say
from tests.steps import facts, tools
from tests.steps.operators import LIMIT, charge
from tests.waiting import eventually

NAMES = ("one", "two")


async def left_unknown(surestep: Surestep, world, step_id: str) -> str:
    """The id of the watch of two actions that were left unknown."""
    for name in NAMES:
        await world.fault(f"{step_id}/{name}", write=["reply_lost"])
    actions = [charge(tools.blind).named(name) for name in NAMES]
    await surestep.start(step_id, *actions, mode="parallel")
    for name in NAMES:
        await eventually(lambda name=name: asked(surestep, step_id, name))
        await say(surestep, f"{step_id}/{name}", "leave_unknown", by="Ada")
    await surestep.handle(step_id).outcome(within=LIMIT)
    query = f"WorkflowType = 'LateWatch' AND WorkflowId STARTS_WITH '{step_id}/watch-'"

    async def started():
        return [run.id async for run in surestep.client.list_workflows(query)]

    (watch,) = await eventually(started)
    return watch


async def asked(surestep: Surestep, step_id: str, name: str) -> bool:
    record = await facts.record(surestep, step_id, name)
    return record is not None and record.asked is not None


async def knows(surestep: Surestep, watch: str, name: str) -> bool:
    records = await surestep.handle(watch).records()
    return any(record.name == name and record.anomalies for record in records)


async def test_an_acknowledgement_covers_only_what_was_known_then(working, world, step_id):
    async with working(tools.blind) as surestep:
        watch = await left_unknown(surestep, world, step_id)
        handle = surestep.client.get_workflow_handle(watch)
        for name in NAMES:
            await handle.signal("notice", {"key": f"{step_id}/{name}", "id": f"ef_{name}"})
            await eventually(lambda name=name: knows(surestep, watch, name))
            assert (await handle.describe()).status is WorkflowExecutionStatus.RUNNING
            await surestep.acknowledge(watch)
        await handle.result()


async def test_a_flood_of_notices_neither_ends_a_watch_nor_loses_what_it_knows(
    working, world, step_id
):
    async with working(tools.blind) as surestep:
        watch = await left_unknown(surestep, world, step_id)
        handle = surestep.client.get_workflow_handle(watch)
        first = (await handle.describe()).run_id
        while (await handle.describe()).run_id == first:
            for _ in range(50):
                await handle.signal("notice", {"key": f"{step_id}/one", "id": "ef_one"})
        await eventually(lambda: knows(surestep, watch, "one"))
        await handle.signal("notice", {"key": f"{step_id}/two", "id": "ef_two"})
        await eventually(lambda: knows(surestep, watch, "two"))
        assert (await surestep.handle(watch).records())[0].anomalies
        await surestep.acknowledge(watch)
        await handle.result()
