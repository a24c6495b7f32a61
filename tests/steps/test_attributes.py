"""Search attributes that are missing, of a wrong type, or too long: they never block an action."""

import asyncio
import logging
from datetime import timedelta

import pytest
from temporalio.api.operatorservice.v1 import RemoveSearchAttributesRequest

from surestep import State, Surestep, registered
from surestep.tool import Tools
from surestep.visibility import NEEDS_HUMAN, RUN, SEARCH_ATTRIBUTES, STATE
from tests.saying import say
from tests.steps import facts, tools
from tests.steps.namespaces import add_attributes, new_namespace
from tests.steps.operators import LIMIT, charge, one_effect_under_one_key
from worker import build_worker

WITHOUT_STATE = {name: kind for name, kind in SEARCH_ATTRIBUTES.items() if name != STATE}
REGISTERED = {
    "none": {},
    "all-but-one": WITHOUT_STATE,
    "a-number-for-a-word": WITHOUT_STATE | {STATE: "Int"},
    "a-list-for-a-word": WITHOUT_STATE | {STATE: "KeywordList"},
    "a-word-for-a-yes": SEARCH_ATTRIBUTES | {NEEDS_HUMAN: "Keyword"},
    "a-number-for-the-run": SEARCH_ATTRIBUTES | {RUN: "Int"},
}


def namespace_of(step_id: str, name: str = "mine") -> str:
    return f"{step_id}-{name}".replace("/", "-")


async def test_without_search_attributes_steps_work_and_only_the_list_is_missing(
    client, world, step_id, caplog
):
    async def whole_story(name: str) -> None:
        one = f"{step_id}/{name}"
        await world.fault(f"{one}/asked/*", write=["reply_lost"])
        own = await new_namespace(client, namespace_of(step_id, name), **REGISTERED[name])
        known = Tools(tools.keyed, tools.blind)
        async with build_worker(own, known, task_queue="own", grace=timedelta(0)):
            surestep = Surestep(own, task_queue="own")
            outcome = await surestep.run(f"{one}/plain", charge(tools.keyed), run="r", within=LIMIT)
            assert outcome.state is State.CONFIRMED
            await surestep.start(f"{one}/asked", charge(tools.blind), run="r")
            await facts.parked(surestep, f"{one}/asked")
            assert "unknown" in await facts.details(surestep, f"{one}/asked")
            await say(surestep, f"{one}/asked", "confirm", by="Ada")
            outcome = await surestep.handle(f"{one}/asked").outcome(within=LIMIT)
            assert outcome.state is State.CONFIRMED
        assert await world.count(f"{one}/*") == 2

    with caplog.at_level(logging.WARNING):
        await asyncio.gather(*(whole_story(name) for name in REGISTERED))
    warned = [one for one in caplog.records if "run `python starter.py setup`" in one.getMessage()]
    assert len(warned) >= len(REGISTERED)


async def test_an_attribute_removed_under_open_steps_holds_up_only_those_until_it_is_back(
    client, world, step_id, monkeypatch
):
    monkeypatch.setattr(registered, "ASKED_AGAIN", timedelta(0))
    await world.fault(f"{step_id}/open/*", write=["reply_lost"])
    own = await new_namespace(client, namespace_of(step_id), **SEARCH_ATTRIBUTES)
    async with build_worker(
        own, Tools(tools.keyed, tools.blind), task_queue="own", grace=timedelta(0)
    ):
        surestep = Surestep(own, task_queue="own")
        await surestep.start(f"{step_id}/open", charge(tools.blind))
        await facts.parked(surestep, f"{step_id}/open")
        await own.operator_service.remove_search_attributes(
            RemoveSearchAttributesRequest(namespace=own.namespace, search_attributes=[STATE])
        )
        outcome = await surestep.run(f"{step_id}/new", charge(tools.keyed), within=LIMIT)
        assert outcome.state is State.CONFIRMED
        deciding = asyncio.create_task(
            say(surestep, f"{step_id}/open", "confirm", by="Ada", within=LIMIT)
        )
        await add_attributes(own, **{STATE: SEARCH_ATTRIBUTES[STATE]})
        assert (await deciding).taken
        outcome = await surestep.handle(f"{step_id}/open").outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    await one_effect_under_one_key(world, f"{step_id}/open/blind", requests=1)


@pytest.mark.parametrize("text", ["x", "é", "漢", "🧾"], ids=["1 byte", "2", "3", "4 bytes"])
async def test_the_longest_names_that_are_taken_do_not_get_the_step_terminated(
    text, working, world, step_id
):
    """An attribute over the server's limit would have it end the workflow, whatever was sent."""
    async with working(tools.keyed) as surestep:
        outcome = await surestep.run(
            step_id, charge(tools.keyed), run=text * 200, label=text * 200, within=LIMIT
        )
        found = await surestep.steps(f"WorkflowId = '{step_id}'")
    assert outcome.state is State.CONFIRMED
    assert outcome.run == text * 200
    assert found[0].run
    assert outcome.run.startswith(found[0].run)


async def test_a_hundred_tools_of_the_longest_names_fit_into_one_step(working, world, step_id):
    many = [
        tools.careful(f"tool-{number:03}-".ljust(40, "x"), "keyed", key=tools.KEYED)
        for number in range(100)
    ]
    async with working(*many) as surestep:
        outcome = await surestep.run(
            step_id, *(charge(tool) for tool in many), mode="parallel", within=2 * LIMIT
        )
        (found,) = await surestep.steps(f"WorkflowId = '{step_id}'")
    assert outcome.state is State.CONFIRMED
    assert await world.count(f"{step_id}/*") == 100
    assert 10 < len(found.tools) < 100
