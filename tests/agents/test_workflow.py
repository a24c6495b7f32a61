"""A step of an agent that is a workflow: whatever becomes of the parent, nothing is lost or undone.

Every parent's history is replayed at the end, by the code that wrote it.
"""

import subprocess
import sys
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Replayer, Worker

from activities.attend import Attendant
from surestep import Tools
from surestep.protocol import STEP_WORKFLOW
from tests.agents.parents import Job, Refunding
from tests.saying import say
from tests.steps import facts, tools
from tests.steps.operators import finished_tasks, reset
from tests.waiting import eventually
from worker import build_worker

LIMIT = timedelta(seconds=40)

LOST = ["honest"] + ["error:500"] * 99  # the look right before the send, and all after it


@pytest.fixture
async def agents(temporal_address, step_id):
    """`async with agents(surestep) as start:`; `await start(id, job…)` starts a parent."""
    client = await Client.connect(temporal_address)
    started = []

    @asynccontextmanager
    async def running(queue):
        async def start(parent, **job):
            handle = await client.start_workflow(
                Refunding.run,
                Job(**{"step_id": step_id, "queue": queue, **job}),
                id=f"{step_id}-{parent}",
                task_queue=f"{queue}-agents",
                retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=10)),
            )
            started.append(handle.id)
            return handle

        async with Worker(client, task_queue=f"{queue}-agents", workflows=[Refunding]):
            yield start

    yield running
    for one in started:
        history = await client.get_workflow_handle(one).fetch_history()
        await Replayer(workflows=[Refunding]).replay_workflow(history)


async def exists(client, step_id):
    try:
        return await client.get_workflow_handle(step_id).describe()
    except RPCError:
        return None


async def parked(surestep, step_id):
    """Waits until the parent has started the step, and a human is asked about it."""
    await eventually(lambda: exists(surestep.client, step_id))
    await facts.parked(surestep, step_id)


async def ended(handle):
    """How a parent ended, without its outcome."""
    with pytest.raises(WorkflowFailureError) as failure:
        await handle.result()
    return failure.value.cause


async def test_a_parent_gets_the_outcome_of_its_step(agents, working, world, client, step_id):
    async with working(tools.keyed) as surestep, agents(surestep.task_queue) as start:
        parent = await start("parent")
        assert await parent.result() == f"confirmed {parent.id}"
    described = await client.get_workflow_handle(step_id).describe()
    assert (described.workflow_type, described.parent_id) == (STEP_WORKFLOW, parent.id)
    assert await described.static_summary() == "keyed"
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_parent_cancelled_before_its_step_was_taken_up_leaves_it_alone(
    agents, world, client, step_id
):
    queue = f"{step_id}-late"
    async with agents(queue) as start:
        parent = await start("parent")
        await eventually(lambda: exists(client, step_id))
        await parent.cancel()
        assert type(await ended(parent)).__name__ == "CancelledError"
        async with build_worker(client, Tools(tools.keyed), task_queue=queue):
            assert await (await start("second")).result() == f"confirmed {parent.id}"
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_parent_cancelled_or_terminated_while_its_step_is_under_way_loses_nothing(
    agents, working, world, step_id
):
    """Another parent finds the step that the others have left, and waits without a slot."""
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep, agents(surestep.task_queue) as start:
        first = await start("first", tool="blind")
        await parked(surestep, step_id)
        await first.cancel()
        assert type(await ended(first)).__name__ == "CancelledError"
        second = await start("second", tool="blind")
        third = await start("third", tool="blind")
        await eventually(lambda: looks_again(second))
        await second.cancel()
        assert type(await ended(second)).__name__ == "CancelledError"
        await third.terminate()
        fourth = await start("fourth", tool="blind")
        await say(surestep, step_id, "confirm", by="ops", note="seen")
        assert await fourth.result() == f"confirmed {first.id}"
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def looks_again(parent):
    """The look at the step has ended, and is asked for anew by the server alone."""
    pending = (await parent.describe()).raw_description.pending_activities
    return any(one.activity_type.name == "attend" and one.attempt > 1 for one in pending)


@pytest.mark.parametrize("then", ["fail", "continue"])
async def test_a_parent_that_is_retried_or_continued_finds_its_step(
    then, agents, working, world, step_id
):
    async with working(tools.keyed) as surestep, agents(surestep.task_queue) as start:
        parent = await start("parent", then=then)
        assert await parent.result() == f"confirmed {parent.id}"
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_parent_that_is_reset_to_any_point_finds_its_step(
    agents, working, world, client, step_id
):
    async with working(tools.keyed) as surestep, agents(surestep.task_queue) as start:
        parent = await start("parent")
        told = await parent.result()
        run = (await parent.describe()).run_id
        for point in await finished_tasks(client, parent.id):
            await reset(client, parent.id, point, run)
            assert await client.get_workflow_handle(parent.id).result() == told
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_parent_that_is_reset_while_its_step_waits_for_a_person_gets_the_outcome(
    agents, working, world, client, step_id
):
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep, agents(surestep.task_queue) as start:
        parent = await start("parent", tool="blind")
        await parked(surestep, step_id)
        run = (await parent.describe()).run_id
        for point in await finished_tasks(client, parent.id):
            await reset(client, parent.id, point, run)
        await say(surestep, step_id, "confirm", by="ops", note="seen")
        told = await client.get_workflow_handle(parent.id).result()
    assert told == f"confirmed {parent.id}"
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_two_parents_of_one_step_both_get_its_outcome(agents, working, world, step_id):
    async with working(tools.keyed) as surestep, agents(surestep.task_queue) as start:
        first, second = await start("first"), await start("second")
        assert await first.result() == await second.result()
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_parent_with_other_input_for_the_same_step_ends_in_a_conflict(
    agents, working, world, step_id
):
    async with working(tools.keyed) as surestep, agents(surestep.task_queue) as start:
        await (await start("first")).result()
        conflict = await ended(await start("second", cents=9900))
    assert conflict.type == "StepConflict"
    assert "keyed.cents: 2500 there, 9900 now" in str(conflict)
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_parent_whose_step_cannot_be_used_ends_and_is_not_stuck(agents, working, step_id):
    async with working(tools.keyed) as surestep, agents(surestep.task_queue) as start:
        unknown = await ended(await start("parent", tool="lookup"))
        unfit = await ended(await start("other", step_id="not an id"))
    assert (unknown.type, unfit.type) == ("UnknownTool", "InvalidStepId")


async def test_a_parent_starts_a_step_again_that_was_ended_from_outside(
    agents, working, world, client, step_id
):
    """Its retry submits it once more, and what the ended run has sent is found."""
    await world.fault(f"{step_id}/*", write=["reply_lost"], lookup=LOST)
    async with working(tools.lookup) as surestep, agents(surestep.task_queue) as start:
        parent = await start("parent", tool="lookup")
        await facts.applied(world, f"{step_id}/*")
        await client.get_workflow_handle(step_id).terminate()
        await world.fault(f"{step_id}/*", lookup=[])
        assert await parent.result() == f"confirmed {parent.id}"
        evidence = facts.told(await surestep.recall(step_id))
    assert "terminated" in evidence
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_parent_goes_on_waiting_when_its_step_is_reset(
    agents, working, world, client, step_id
):
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep, agents(surestep.task_queue) as start:
        parent = await start("parent", tool="blind")
        await parked(surestep, step_id)
        await reset(client, step_id, (await finished_tasks(client, step_id))[0])
        await parked(surestep, step_id)
        await say(surestep, step_id, "confirm", by="ops", note="seen")
        assert await parent.result() == f"confirmed {parent.id}"
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_parent_may_limit_its_wait_and_wait_on(agents, working, world, step_id):
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep, agents(surestep.task_queue) as start:
        parent = await start("parent", tool="blind", limit=0.3)
        await parked(surestep, step_id)
        await eventually(lambda: looks_again(parent))
        await say(surestep, step_id, "confirm", by="ops", note="seen")
        assert await parent.result() == f"confirmed {parent.id}"
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_parent_does_not_wait_for_a_step_that_was_deleted(client, step_id):
    with pytest.raises(ApplicationError, match="was deleted") as failure:
        await ActivityEnvironment().run(Attendant(client).attend, step_id)
    assert (failure.value.type, failure.value.non_retryable) == ("NoSuchStep", True)


def test_the_helper_loads_nothing_that_a_workflow_must_not_load():
    code = "import sys, surestep.workflow; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    heavy = {"httpx", "cryptography", "surestep.client", "surestep.connection", "surestep.agents"}
    assert heavy.isdisjoint(loaded.stdout.split())
