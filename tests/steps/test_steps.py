"""Steps of several actions, and steps that are submitted more than once."""

import asyncio
from datetime import timedelta

import pytest
from temporalio.client import WorkflowExecutionStatus

from surestep import (
    Action,
    Advice,
    InvalidArguments,
    State,
    StepConflict,
    SurestepError,
    UnknownTool,
)
from surestep.protocol import STEP_WORKFLOW
from tests.saying import say
from tests.steps import facts, tools
from tests.steps.operators import as_another_language
from tests.waiting import eventually

LIMIT = timedelta(seconds=30)


def charge(tool, **arguments):
    return tool(**{"order": "o-1", "cents": 2500} | arguments)


async def test_what_depends_on_an_action_waits_until_it_is_settled(working, world, step_id):
    await world.fault(f"{step_id}/first", write=["reply_lost"])
    async with working(tools.blind, tools.keyed) as surestep:
        await surestep.start(
            step_id, charge(tools.blind).named("first"), charge(tools.keyed).named("second")
        )
        await facts.parked(surestep, step_id)
        assert await world.requests(f"{step_id}/second") == []
        await say(surestep, f"{step_id}/first", "confirm", by="Ada")
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    first, second = await world.effects(f"{step_id}/*")
    assert (first.key, second.key) == (f"{step_id}/first", f"{step_id}/second")


async def test_what_depends_on_a_refused_action_is_not_started(working, world, step_id):
    await world.fault(f"{step_id}/first", write=["refuse:422"])
    async with working(tools.keyed) as surestep:
        outcome = await surestep.run(
            step_id, *(charge(tools.keyed).named(name) for name in ("first", "second", "third"))
        )
    assert outcome["first"].state is State.REJECTED
    assert outcome["second"].state is State.NOT_FOUND
    assert outcome["third"].state is State.NOT_FOUND
    assert "first" in outcome["second"].why
    assert outcome.advice is Advice.FIX_AND_RESUBMIT
    assert await world.count(f"{step_id}/*") == 0
    assert await world.requests(f"{step_id}/second") == []


async def test_parallel_actions_do_not_wait_for_each_other(working, world, step_id):
    await world.fault(f"{step_id}/first", write=["expect_kill"])
    async with working(tools.keyed) as surestep:
        handle = await surestep.start(
            step_id,
            charge(tools.keyed).named("first"),
            charge(tools.keyed).named("second"),
            mode="parallel",
        )
        await facts.applied(world, f"{step_id}/first")
        await facts.applied(world, f"{step_id}/second")
        await world.release()
        outcome = await handle.outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert await world.count(f"{step_id}/*") == 2


async def test_a_step_that_fails_undoes_what_it_confirmed_and_nothing_else(working, world, step_id):
    await world.fault(f"{step_id}/third", write=["refuse:422"])
    names = ("first", "second", "third")
    async with working(tools.undoable) as surestep:
        outcome = await surestep.run(
            step_id,
            *(charge(tools.undoable).named(name) for name in names),
            undo_on_failure=True,
        )
    assert outcome["first"].state is State.COMPENSATED
    assert outcome["second"].state is State.COMPENSATED
    assert outcome["third"].state is State.REJECTED
    effects = await world.effects(f"{step_id}/*")
    assert [effect.status for effect in effects] == ["voided", "voided"]
    assert [effect.voided_by for effect in effects] == [f"{each.key}/undo" for each in effects]
    voids = [one.path for one in await world.requests(f"{step_id}/*") if one.method == "DELETE"]
    assert voids == [f"/lookup/effects/{effect.id}" for effect in reversed(effects)]


@pytest.mark.parametrize("write", ["reply_lost", "never_arrives", "refuse:409"])
async def test_an_ambiguous_undo_is_looked_up_like_any_action(write, working, world, step_id):
    await world.fault(f"{step_id}/first/undo", write=[write])
    await world.fault(f"{step_id}/second", write=["refuse:422"])
    async with working(tools.undoable) as surestep:
        outcome = await surestep.run(
            step_id,
            charge(tools.undoable).named("first"),
            charge(tools.undoable).named("second"),
            undo_on_failure=True,
            within=LIMIT,
        )
    assert outcome["first"].state is State.COMPENSATED
    (effect,) = await world.effects(f"{step_id}/*")
    assert effect.status == "voided"


async def test_an_unknown_action_is_never_undone(working, world, step_id):
    await world.fault(f"{step_id}/first", write=["other_content"])
    await world.fault(f"{step_id}/second", write=["refuse:422"])
    async with working(tools.undoable) as surestep:
        await surestep.start(
            step_id,
            charge(tools.undoable).named("first"),
            charge(tools.undoable).named("second"),
            mode="parallel",
            undo_on_failure=True,
        )
        await facts.parked(surestep, step_id)
        ruling = await say(surestep, f"{step_id}/first", "abandon", by="Ada", accept_duplicate=True)
        assert ruling.taken, ruling.why
        await surestep.handle(step_id).outcome(within=LIMIT)
    (effect,) = await world.effects(f"{step_id}/*")
    assert effect.status == "succeeded"
    assert not [one for one in await world.requests(f"{step_id}/*") if one.method == "DELETE"]


async def test_an_undo_that_nobody_can_look_up_is_decided_under_its_own_name(
    working, world, step_id
):
    await world.fault(f"{step_id}/first/undo", write=["reply_lost"])
    await world.fault(f"{step_id}/second", write=["refuse:422"])
    async with working(tools.undone_blindly) as surestep:
        await surestep.start(
            step_id,
            charge(tools.undone_blindly).named("first"),
            charge(tools.undone_blindly).named("second"),
            undo_on_failure=True,
        )

        async def asked():
            known = await facts.record(surestep, step_id, "first/undo")
            return known and known.asked

        await eventually(asked)
        ruling = await say(surestep, f"{step_id}/first/undo", "confirm", by="Ada")
        assert ruling.taken, ruling.why
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome["first"].state is State.COMPENSATED
    (effect,) = await world.effects(f"{step_id}/*")
    assert effect.status == "voided"


async def test_two_actions_of_one_tool_need_two_names(working, world, step_id):
    async with working(tools.keyed) as surestep:
        with pytest.raises(InvalidArguments, match="named"):
            await surestep.run(step_id, charge(tools.keyed), charge(tools.keyed))
        outcome = await surestep.run(
            step_id, charge(tools.keyed).named("one"), charge(tools.keyed).named("two")
        )
    assert outcome.state is State.CONFIRMED
    assert await world.count(f"{step_id}/*") == 2
    assert {one.key for one in await world.effects()} == {f"{step_id}/one", f"{step_id}/two"}


async def test_the_same_intent_again_attaches_and_an_intended_repeat_runs(working, world, step_id):
    async with working(tools.keyed) as surestep:
        first = await surestep.run(f"{step_id}/turn-5", charge(tools.keyed))
        again = await surestep.run(f"{step_id}/turn-5", charge(tools.keyed))
        repeat = await surestep.run(f"{step_id}/turn-9", charge(tools.keyed))
    assert again == first
    assert repeat.result != first.result
    assert await world.count(f"{step_id}/*") == 2


async def test_the_same_intent_while_the_first_is_open_waits_for_the_same_end(
    working, world, step_id
):
    await world.fault(f"{step_id}/*", write=["slow:0.5"])
    async with working(tools.blind) as surestep:
        first = asyncio.create_task(surestep.run(step_id, charge(tools.blind)))
        await facts.arrived(world, f"{step_id}/*")
        again = await surestep.run(step_id, charge(tools.blind, cents=2500.0))
        assert again == await first
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


@pytest.mark.parametrize("end", ["open", "closed", "terminated", "timed out"])
async def test_other_arguments_under_one_id_are_a_conflict_and_send_nothing(
    end, working, world, client, step_id
):
    write = "honest" if end == "closed" else "reply_lost"
    await world.fault(f"{step_id}/*", write=[write])
    async with working(tools.blind) as surestep:
        await client.start_workflow(
            STEP_WORKFLOW,
            as_another_language(tools.blind),
            id=step_id,
            task_queue=surestep.task_queue,
            run_timeout=timedelta(seconds=3) if end == "timed out" else None,
        )
        if end == "terminated":
            await facts.parked(surestep, step_id)
            await client.get_workflow_handle(step_id).terminate()
        elif end != "open":
            await eventually(lambda: is_closed(surestep, step_id))
        for _ in range(2):
            with pytest.raises(StepConflict, match=r"blind\.cents: 2500 there, 9900 now"):
                await surestep.run(step_id, charge(tools.blind, cents=9900))
        handle = await surestep.start(step_id, charge(tools.blind))
        if end == "closed":
            assert (await handle.outcome(within=LIMIT)).state is State.CONFIRMED
        else:
            await facts.parked(surestep, step_id)
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def is_closed(surestep, step_id):
    status = (await surestep.handle(step_id).describe()).status
    return status is not WorkflowExecutionStatus.RUNNING


async def test_a_step_that_failed_on_bad_input_can_be_submitted_corrected(working, world, step_id):
    bad = Action(name="keyed", tool="keyed", arguments={"order": "o-1"}, input_hash="v1:0")
    async with working(tools.keyed) as surestep:
        with pytest.raises(InvalidArguments, match="cents"):
            await surestep.run(step_id, bad)
        with pytest.raises(InvalidArguments, match="cents"):
            await surestep.recall(step_id)
        outcome = await surestep.run(step_id, charge(tools.keyed))
    assert outcome.state is State.CONFIRMED
    assert await world.count(f"{step_id}/*") == 1


@pytest.mark.parametrize(
    "given",
    [
        [],
        [None],
        ["refund"],
        [{}],
        [{"actions": []}],
        [{"actions": [{"tool": "nobody"}]}],
        [{"actions": [{"tool": "keyed", "arguments": {"order": 1, "cents": "x"}}]}],
        [{"actions": [{"tool": "keyed", "name": "a b"}]}],
        [{"actions": [{"tool": "keyed"}], "mode": "sideways"}],
    ],
    ids=str,
)
async def test_input_that_cannot_be_used_ends_the_step_with_a_word_and_sends_nothing(
    given, working, world, client, step_id
):
    async with working(tools.keyed) as surestep:
        await client.start_workflow(
            STEP_WORKFLOW, args=given, id=step_id, task_queue=surestep.task_queue
        )
        with pytest.raises(SurestepError, match="nothing was sent"):
            await surestep.handle(step_id).outcome(within=LIMIT)
    assert await world.requests() == []


async def test_a_failed_start_does_not_hide_the_conflict_with_what_ran_before_it(
    working, world, client, step_id
):
    """The effect exists; then the step is submitted where its tool is missing; then changed."""
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep:
        await surestep.start(step_id, charge(tools.blind))
        await facts.parked(surestep, step_id)
        await client.get_workflow_handle(step_id).terminate()
    async with working(tools.keyed) as surestep:
        with pytest.raises(UnknownTool):
            await surestep.run(step_id, charge(tools.blind))
    async with working(tools.blind) as surestep:
        with pytest.raises(StepConflict):
            await surestep.run(step_id, charge(tools.blind, cents=9900), within=LIMIT / 10)
    assert len(await facts.posts(world, f"{step_id}/*")) == 1
