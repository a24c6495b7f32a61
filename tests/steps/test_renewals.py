"""A step whose history was renewed (continue-as-new) is as careful as one whose was not."""

import asyncio
from datetime import timedelta

import pytest
from temporalio.common import RetryPolicy, WorkflowIDReusePolicy

from surestep import State
from surestep.protocol import STEP_WORKFLOW
from tests.steps import facts, tools
from tests.steps.operators import (
    LIMIT,
    as_another_language,
    nothing_is_sent_again,
    waits_for_its_next_try,
)
from tests.waiting import eventually


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """A history is long after a hundred events, to spare the tests a thousand signals."""
    monkeypatch.setattr("workflows.settling.EVENTS_LIMIT", 100)


async def renewed(surestep, step_id):
    """Junk enough for the history to be renewed at the next move."""
    handle = surestep.client.get_workflow_handle(step_id)
    run = (await handle.describe()).run_id
    await asyncio.gather(*(handle.signal("decide", "junk") for _ in range(120)))

    async def another():
        return (await handle.describe()).run_id != run

    await eventually(another, within=40)


async def test_a_start_with_the_input_of_a_renewed_run_knows_what_that_run_sent(
    working, world, client, step_id
):
    """The Web UI's "start workflow like this one" copies the input, the carried records too."""
    async with working(tools.blind) as surestep:
        async with world.outage():
            handle = await surestep.start(step_id, tools.blind(order="o-1", cents=2500))
            await eventually(lambda: waits_for_its_next_try(client, step_id))
            await renewed(surestep, step_id)
        assert (await handle.outcome(within=LIMIT)).state is State.CONFIRMED
        copied = await handle.submitted()
        assert copied.records, "nothing was carried, so there is nothing to test"
        await client.start_workflow(
            STEP_WORKFLOW,
            copied,
            id=step_id,
            task_queue=surestep.task_queue,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        )
        await nothing_is_sent_again(surestep, world, step_id)


async def test_a_renewed_run_that_temporal_retries_knows_what_it_sent(
    working, world, client, step_id
):
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep:
        async with world.outage():
            await client.start_workflow(
                STEP_WORKFLOW,
                as_another_language(tools.blind),
                id=step_id,
                task_queue=surestep.task_queue,
                run_timeout=timedelta(seconds=4),
                retry_policy=RetryPolicy(),
            )
            await eventually(lambda: waits_for_its_next_try(client, step_id))
            await renewed(surestep, step_id)
        await facts.parked(surestep, step_id)

        async def retried():
            history = await client.get_workflow_handle(step_id).fetch_history()
            return history.events[0].workflow_execution_started_event_attributes.attempt > 1

        await eventually(retried)
        await nothing_is_sent_again(surestep, world, step_id)


@pytest.mark.parametrize("verdict", ["confirm", "abandon"])
async def test_a_question_and_its_answer_survive_a_renewal(verdict, working, world, step_id):
    await world.fault(f"{step_id}/*", write=["never_arrives"])
    async with working(tools.hasty) as surestep:
        handle = await surestep.start(step_id, tools.hasty(order="o-1", cents=2500))
        asked = await facts.parked(surestep, step_id)
        await renewed(surestep, step_id)
        record = await facts.parked(surestep, step_id)
        assert record.version == asked.version
        assert (await surestep.decide(step_id, verdict, by="Ada", version=asked.version)).taken
        outcome = await handle.outcome(within=LIMIT)
    assert outcome.state is (State.CONFIRMED if verdict == "confirm" else State.NOT_FOUND)
    assert len(await facts.posts(world, f"{step_id}/*")) == 1
