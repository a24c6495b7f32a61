"""A step that is reset, by the Web UI or the command line, to any point of its history."""

import asyncio

import pytest
from temporalio.client import Client

from surestep import State
from tests.saying import say, signal
from tests.steps import facts, tools
from tests.steps.operators import (
    LIMIT,
    SIGHTED,
    TOOLS,
    between_plan_and_send,
    charge,
    finished_tasks,
    nothing_is_sent_again,
    one_effect_under_one_key,
    one_for_each_point,
    reset,
    reset_to,
    told_apart,
    waits_for_its_next_try,
)
from tests.waiting import eventually

named = pytest.mark.parametrize


# What went wrong before the step was confirmed; each story has a send, looks, and a verdict.
STORIES = {
    "a lost reply, then a failed lookup": (["reply_lost"], ["error:500"]),
    "a request lost on the way": (["never_arrives"], []),
}


# Without a promise, only a human can end a request that was lost on the way.
TOLD = [
    (tool, story)
    for tool in SIGHTED
    for story in STORIES
    if not (tool is tools.hasty and story == "a request lost on the way")
]


@named(("tool", "story"), TOLD, ids=[f"{tool.name}-{story}" for tool, story in TOLD])
async def test_a_reset_to_any_point_after_the_effect_finds_it(
    story, tool, working, world, client, step_id
):
    writes, lookups = STORIES[story]

    async def troubled(one):
        first = [] if tool is tools.keyed else ["honest"]
        await world.fault(f"{one}/*", write=writes, lookup=first + lookups)
        assert (await surestep.run(one, charge(tool))).state is State.CONFIRMED

    async with working(tool) as surestep:
        ids = await one_for_each_point(client, step_id, troubled)
        assert len(ids) >= 3
        for position, one in enumerate(ids):
            await reset_to(client, one, position)
        await told_apart(surestep, world, tool, ids[0], word="reset")
        for one in ids[1:]:  # a late reset may have only the verdict to repeat
            await told_apart(surestep, world, tool, one)


async def refused_once(surestep, world, one):
    """The service is not reached at first, and the second attempt's reply is lost."""
    await world.fault(f"{one}/*", write=["reply_lost"])
    async with world.outage():
        await surestep.start(one, charge(tools.blind))

        # The history, not a query: a query adds a workflow task of its own.
        await eventually(lambda: waits_for_its_next_try(surestep.client, one))
    await facts.parked(surestep, one)


async def retried_by_signal(surestep, world, one):
    """Lost on the way; a human says retry, and that succeeds."""
    await world.fault(f"{one}/*", write=["never_arrives"])
    await surestep.start(one, charge(tools.blind))
    await facts.parked(surestep, one)
    await signal(surestep.client, one, "retry", by="ops")
    outcome = await surestep.handle(one).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED


async def retried_by_update(surestep, world, one):
    """The same, by somebody who waits for the answer."""
    await world.fault(f"{one}/*", write=["never_arrives"])
    await surestep.start(one, charge(tools.blind))
    version = (await facts.parked(surestep, one)).version
    ruling = await surestep.decide(one, "retry", by="ops", version=version)
    assert ruling.taken, ruling.why
    outcome = await surestep.handle(one).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED


@named("story", [retried_by_signal, retried_by_update], ids=lambda story: story.__name__)
async def test_a_reset_to_any_point_of_a_story_with_a_retry_sends_nothing_again(
    story, working, world, client, step_id
):
    """Temporal applies the signals of the old run to the new one, a human's `retry` as well."""
    async with working(tools.blind) as surestep:
        ids = await one_for_each_point(client, step_id, lambda one: story(surestep, world, one))
        for position, one in enumerate(ids):
            await reset_to(client, one, position)
        await nothing_is_sent_again(surestep, world, *ids)


async def test_a_reset_of_a_blind_step_to_any_point_sends_nothing_again(
    working, world, client, step_id
):
    async with working(tools.blind) as surestep:
        await refused_once(surestep, world, step_id)
        run = (await client.get_workflow_handle(step_id).describe()).run_id
        for point in await finished_tasks(client, step_id):
            await reset(client, step_id, point, run)
            await nothing_is_sent_again(surestep, world, step_id)


async def test_a_reset_to_between_the_plan_and_the_send_sends_nothing_again(
    working, world, client, step_id, monkeypatch
):
    """A query in the first moment, as the Web UI makes it, puts a workflow task between them, where
    the start was not an eager one: as for every agent that has no worker on its connection."""
    start = Client.start_workflow

    async def without_haste(self, *given, **more):
        return await start(self, *given, **{**more, "request_eager_start": False})

    monkeypatch.setattr(Client, "start_workflow", without_haste)

    async def watched_from_the_start(one):
        handle = surestep.handle(one)
        queries = [asyncio.create_task(handle.records()) for _ in range(5)]
        await surestep.run(one, charge(tools.blind), within=LIMIT)
        await asyncio.gather(*queries, return_exceptions=True)
        return await between_plan_and_send(client, one)

    async with working(tools.blind) as surestep:
        for batch in range(20):
            ids = [f"{step_id}/{batch}/{number}" for number in range(8)]
            points = await asyncio.gather(*(watched_from_the_start(one) for one in ids))
            found = {one: point for one, point in zip(ids, points, strict=True) if point}
            if found:
                break
        else:
            pytest.fail("no step had a workflow task between its plan and its send")
        for one, point in found.items():
            await reset(client, one, point)
        await nothing_is_sent_again(surestep, world, *found)


@named("tool", TOOLS, ids=lambda tool: tool.name)
async def test_a_reset_while_the_request_is_under_way_sends_nothing_new(
    tool, working, world, client, step_id
):
    await world.fault(f"{step_id}/*", write=["expect_kill"])
    async with working(tool) as surestep:
        await surestep.start(step_id, charge(tool))
        await facts.applied(world, f"{step_id}/*")
        await reset_to(client, step_id, 0)
        await told_apart(surestep, world, tool, step_id, requests=1, word="reset")


async def test_a_reset_before_the_send_stops_it(working, world, client, step_id):
    """The first run still looks before its send; the run after the reset sends, alone."""
    key = f"{step_id}/lookup"
    await world.fault(key, lookup=["hang"])
    async with working(tools.lookup) as surestep:
        await surestep.start(step_id, charge(tools.lookup))
        await facts.arrived(world, key, method="GET")
        await reset_to(client, step_id, 0)
        await told_apart(surestep, world, tools.lookup, step_id, requests=1, word="reset")
        await facts.landed(world, key, longest=2 * tools.QUICK)
        await one_effect_under_one_key(world, key, requests=1)


@named("tool", [tools.keyed, tools.lookup], ids=lambda tool: tool.name)
async def test_a_reset_while_nothing_could_be_sent_loses_no_work(
    tool, working, world, client, step_id
):
    async with working(tool) as surestep:
        async with world.outage():
            await surestep.start(step_id, charge(tool))

            async def refused():
                known = await facts.record(surestep, step_id)
                return known and known.setbacks

            await eventually(refused)
            await reset_to(client, step_id, 0)
            await eventually(lambda: facts.record(surestep, step_id))
        await told_apart(surestep, world, tool, step_id, requests=1, word="reset")


@named("write", ["reply_lost", "never_arrives"])
async def test_a_reset_while_a_human_is_asked_asks_again(write, working, world, client, step_id):
    effects = 1 if write == "reply_lost" else 0
    async with working(tools.blind) as surestep:
        await world.fault(f"{step_id}/*", write=[write])
        await surestep.start(step_id, charge(tools.blind))
        await facts.parked(surestep, step_id)
        for position in (0, -1):
            await reset_to(client, step_id, position)
            await facts.parked(surestep, step_id)
            key = f"{step_id}/blind"
            await one_effect_under_one_key(world, key, effects=effects, requests=1)
        ruling = await say(surestep, step_id, "confirm", by="ops", note="seen")
        assert ruling.taken, ruling.why
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED


async def test_a_reset_of_a_step_of_two_actions_to_any_point_repeats_neither(
    working, world, client, step_id
):
    sighted, blind = f"{step_id}/sighted", f"{step_id}/blind"
    pairs = {
        sighted: [charge(tools.keyed).named("first"), charge(tools.lookup).named("second")],
        blind: [charge(tools.blind).named("first"), charge(tools.blind).named("second")],
    }
    async with working(*TOOLS) as surestep:
        for one, actions in pairs.items():
            assert (await surestep.run(one, *actions, within=LIMIT)).state is State.CONFIRMED
        for one, actions in pairs.items():
            run = (await client.get_workflow_handle(one).describe()).run_id
            for point in await finished_tasks(client, one):
                await reset(client, one, point, run)
                if one == sighted:
                    outcome = await surestep.run(one, *actions, within=LIMIT)
                    assert outcome.state is State.CONFIRMED, facts.told(outcome)
                await nothing_is_sent_again(surestep, world, one, effects=2)
    for key in (f"{one}/{name}" for one in pairs for name in ("first", "second")):
        await one_effect_under_one_key(world, key)


async def test_a_reset_of_a_step_that_was_undone_to_any_point_undoes_nothing_twice(
    working, world, client, step_id
):
    actions = [charge(tools.undoable).named("first"), charge(tools.undoable).named("second")]

    async def undone(one):
        await world.fault(f"{one}/second", write=["refuse:422"] * 99)
        outcome = await surestep.run(one, *actions, undo_on_failure=True, within=LIMIT)
        assert outcome["first"].state is State.COMPENSATED, facts.told(outcome)

    async with working(tools.undoable) as surestep:
        ids = await one_for_each_point(client, step_id, undone)
        for position, one in enumerate(ids):
            await reset_to(client, one, position)
        await asyncio.gather(*(undone(one) for one in ids))
    for one in ids:
        (effect,) = await world.effects(f"{one}/*")
        assert (effect.status, effect.voided_by) == ("voided", f"{one}/first/undo")
        requests = await world.requests(f"{one}/*")
        assert [each.method for each in requests].count("DELETE") == 1


@named("messages", [True, False], ids=["with his answer", "without it"])
async def test_a_reset_to_before_a_humans_answer_asks_again(
    messages, working, world, client, step_id
):
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep:
        await surestep.start(step_id, charge(tools.blind))
        await facts.parked(surestep, step_id)
        await say(surestep, step_id, "confirm", by="Ada")
        await surestep.handle(step_id).outcome(within=LIMIT)
        first = (await finished_tasks(client, step_id))[0]
        await reset(client, step_id, first, messages=messages)
        record = await facts.parked(surestep, step_id)
        assert "the step was reset" in facts.told(record)
        # What was said of the run before answers none of this one's versions.
        refused = "Ada decided to confirm: refused, it answers version"
        assert (refused in facts.told(record)) is messages
    await one_effect_under_one_key(world, f"{step_id}/blind", requests=1)
