"""What an operator can do with the Web UI's buttons and another client: nothing happens twice."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest
from temporalio.common import RetryPolicy, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.service import RPCError

from surestep import Advice, State, StepFailed
from surestep.protocol import STEP_WORKFLOW
from tests.saying import say
from tests.steps import facts, tools
from tests.steps.operators import (
    LIMIT,
    SIGHTED,
    TOOLS,
    as_another_language,
    charge,
    one_effect_under_one_key,
    told_apart,
)
from tests.waiting import eventually

named = pytest.mark.parametrize


@named("tool", TOOLS, ids=lambda tool: tool.name)
async def test_a_terminated_step_that_is_submitted_again_finds_its_effect(
    tool, working, world, client, step_id
):
    await world.fault(f"{step_id}/*", write=["expect_kill"])
    async with working(tool) as surestep:
        waiting = asyncio.create_task(surestep.run(step_id, charge(tool)))
        await facts.applied(world, f"{step_id}/*")
        await client.get_workflow_handle(step_id).terminate("a test")
        with pytest.raises(StepFailed, match="not known"):
            await waiting
        await surestep.start(step_id, charge(tool))
        await told_apart(surestep, world, tool, step_id, requests=1, word="terminated")


async def test_a_step_that_was_terminated_twice_still_knows_of_its_first_run(
    working, world, client, step_id
):
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep:
        for _ in range(3):
            await surestep.start(step_id, charge(tools.blind))
            await facts.parked(surestep, step_id)
            await client.get_workflow_handle(step_id).terminate("a test")
    await one_effect_under_one_key(world, f"{step_id}/blind", requests=1)


@named("tool", TOOLS, ids=lambda tool: tool.name)
async def test_a_start_that_allows_duplicates_makes_none(tool, working, world, client, step_id):
    """The moment after a step has closed, its id is used again by a client that is not ours."""
    ids = [f"{step_id}/{number}" for number in range(5)]

    async def twice(one):
        outcome = await surestep.run(one, charge(tool))
        assert outcome.state is State.CONFIRMED
        await client.start_workflow(
            STEP_WORKFLOW,
            as_another_language(tool),
            id=one,
            task_queue=surestep.task_queue,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        )

    async with working(tool) as surestep:
        await asyncio.gather(*(twice(one) for one in ids))
        for one in ids:
            await told_apart(surestep, world, tool, one, word="ran before")


@named("tool", TOOLS, ids=lambda tool: tool.name)
async def test_a_start_that_ends_the_one_under_way_sends_nothing_new(
    tool, working, world, client, step_id
):
    await world.fault(f"{step_id}/*", write=["expect_kill"])
    async with working(tool) as surestep:
        await surestep.start(step_id, charge(tool))
        await facts.applied(world, f"{step_id}/*")
        await client.start_workflow(
            STEP_WORKFLOW,
            as_another_language(tool),
            id=step_id,
            task_queue=surestep.task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
        )
        await told_apart(surestep, world, tool, step_id, requests=1, word="ran before")


@named("tool", SIGHTED, ids=lambda tool: tool.name)
async def test_a_step_that_temporal_retries_as_a_whole_finds_its_effect(
    tool, working, world, client, step_id
):
    await world.fault(f"{step_id}/*", write=["expect_kill"])
    async with working(tool) as surestep:
        await client.start_workflow(
            STEP_WORKFLOW,
            as_another_language(tool),
            id=step_id,
            task_queue=surestep.task_queue,
            run_timeout=timedelta(seconds=1.2),
            retry_policy=RetryPolicy(),
        )
        await told_apart(surestep, world, tool, step_id, requests=1, word="was retried")


async def test_a_step_cancelled_before_its_send_does_nothing(working, world, client, step_id):
    async with working(tools.keyed) as surestep:
        pass
    handle = await surestep.start(step_id, charge(tools.keyed))
    await client.get_workflow_handle(step_id).cancel()
    async with working(tools.keyed):
        outcome = await handle.outcome(within=LIMIT)
    assert outcome.state is State.NOT_FOUND
    assert outcome.advice is Advice.STOP
    assert outcome.actions[0].cancel_requested
    assert await world.requests(f"{step_id}/*") == []


@named("tool", TOOLS, ids=lambda tool: tool.name)
async def test_a_cancellation_during_the_send_comes_too_late(tool, working, world, client, step_id):
    await world.fault(f"{step_id}/*", write=["slow_commit:0.7"])
    async with working(tool) as surestep:
        handle = await surestep.start(step_id, charge(tool))
        await facts.arrived(world, f"{step_id}/*")
        await client.get_workflow_handle(step_id).cancel()
        outcome = await handle.outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED, facts.told(outcome)
    assert outcome.actions[0].cancel_requested
    assert "too late" in facts.told(outcome)
    await one_effect_under_one_key(world, f"{step_id}/{tool.name}", requests=1)


@named("tool", [tools.keyed, tools.lookup], ids=lambda tool: tool.name)
async def test_a_cancelled_step_is_not_sent_again_and_ends_by_evidence(
    tool, working, world, client, step_id
):
    await world.fault(f"{step_id}/*", write=["hang_uncommitted"])
    async with working(tool) as surestep:
        handle = await surestep.start(step_id, charge(tool))
        await facts.arrived(world, f"{step_id}/*")
        await client.get_workflow_handle(step_id).cancel()
        outcome = await handle.outcome(within=LIMIT)
    assert outcome.state is State.NOT_FOUND, facts.told(outcome)
    await one_effect_under_one_key(world, f"{step_id}/{tool.name}", effects=0, requests=1)


async def test_a_cancellation_of_what_nobody_knows_leaves_the_question(
    working, world, client, step_id
):
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep:
        await surestep.start(step_id, charge(tools.blind))
        await facts.parked(surestep, step_id)
        await client.get_workflow_handle(step_id).cancel()

        async def stopped():
            return (await facts.record(surestep, step_id)).stop

        await eventually(stopped)
        ruling = await say(surestep, step_id, "retry", by="ops")
        assert not ruling.taken
        assert (await say(surestep, step_id, "confirm", by="ops")).taken
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    await one_effect_under_one_key(world, f"{step_id}/blind", requests=1)


async def test_a_cancellation_after_the_end_changes_nothing(working, world, client, step_id):
    async with working(tools.keyed) as surestep:
        before = await surestep.run(step_id, charge(tools.keyed))
        with suppress(RPCError):  # the server may say that it is too late, or nothing
            await client.get_workflow_handle(step_id).cancel()
        assert await surestep.recall(step_id) == before
    await one_effect_under_one_key(world, f"{step_id}/keyed", requests=1)
