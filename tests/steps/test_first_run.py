"""What an undisturbed step costs: the start says that it is the first, and the end how it went."""

import asyncio

from temporalio.api.enums.v1 import EventType

from surestep import State, Surestep
from surestep.protocol import FIRST_RUN
from surestep.visibility import NEEDS_HUMAN, RUN, SEARCH_ATTRIBUTES, STATE, TOOL
from tests.steps import facts, tools
from tests.steps.operators import LIMIT, charge
from tests.waiting import eventually


async def events(client, step_id: str) -> list[str]:
    history = await client.get_workflow_handle(step_id).fetch_history()
    return [EventType.Name(one.event_type).removeprefix("EVENT_TYPE_") for one in history.events]


async def shown(surestep: Surestep, step_id: str) -> dict:
    described = await surestep.handle(step_id).describe()
    pairs = described.typed_search_attributes
    return {pair.key.name: pair.value for pair in pairs if pair.key.name in SEARCH_ATTRIBUTES}


async def test_an_undisturbed_step_has_a_plan_an_attempt_and_one_change_of_what_lists_show(
    working, world, client, step_id
):
    async with working(tools.keyed) as surestep:
        await surestep.run(step_id, charge(tools.keyed), run="r-1", within=LIMIT)
    told = [one for one in await events(client, step_id) if not one.startswith("WORKFLOW_TASK")]
    assert told == [
        "WORKFLOW_EXECUTION_STARTED",
        "MARKER_RECORDED",
        "ACTIVITY_TASK_SCHEDULED",
        "ACTIVITY_TASK_STARTED",
        "ACTIVITY_TASK_COMPLETED",
        "UPSERT_WORKFLOW_SEARCH_ATTRIBUTES",
        "WORKFLOW_EXECUTION_COMPLETED",
    ]
    assert await shown(surestep, step_id) == {
        STATE: "confirmed",
        TOOL: ["keyed"],
        NEEDS_HUMAN: False,
        RUN: "r-1",
    }


async def test_a_step_says_how_it_stands_from_its_first_trouble_on(working, world, step_id):
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep:
        await surestep.start(step_id, charge(tools.blind))
        await facts.parked(surestep, step_id)

        async def told() -> bool:
            return (await shown(surestep, step_id)).get(STATE) == State.UNKNOWN

        await eventually(told)


async def test_ten_actions_in_parallel_change_what_lists_show_once(working, client, step_id):
    actions = [charge(tools.keyed).named(f"n{number}") for number in range(10)]
    async with working(tools.keyed) as surestep:
        outcome = await surestep.run(step_id, *actions, mode="parallel", within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert (await events(client, step_id)).count("UPSERT_WORKFLOW_SEARCH_ATTRIBUTES") == 1


async def test_only_a_start_that_the_server_refuses_for_a_used_id_says_that_it_is_the_first(
    working, client, step_id
):
    async with working(tools.keyed) as surestep:
        await surestep.start(step_id, charge(tools.keyed))
        await client.get_workflow_handle(step_id).terminate("a test")
        await surestep.run(step_id, charge(tools.keyed), within=LIMIT)
    runs = [one async for one in client.list_workflows(f"WorkflowId = '{step_id}'")]
    assert len(runs) == 2
    histories = await asyncio.gather(
        *(
            client.get_workflow_handle(step_id, run_id=one.run_id).fetch_history()
            for one in sorted(runs, key=lambda run: run.start_time)
        )
    )
    started = [one.events[0].workflow_execution_started_event_attributes for one in histories]
    assert [FIRST_RUN in one.header.fields for one in started] == [True, False]
