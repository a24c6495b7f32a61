"""What goes wrong in the field, through each framework at once: the agents share a world, a worker
and a server, and nothing else."""

import asyncio
from datetime import timedelta

import pytest
from agents import set_tracing_disabled
from temporalio.common import RetryPolicy
from temporalio.worker import Worker

from surestep import Surestep, Tools
from surestep.agents import AgentTools
from tests.agents.approving import PLACE, approve, approved
from tests.agents.frameworks import FRAMEWORKS
from tests.agents.retried import Retried, Turns
from tests.steps import facts, tools
from tests.steps.acting import acting_worker, deciding_worker, unhurried
from tests.steps.conftest import workers  # noqa: F401  a fixture

REFUND = {"order": "o-1", "cents": 2500}
OTHER = {"order": "o-1", "cents": 2400}

# A worker that acts and does not decide, and never comes to so many steps that it ends itself.
ACTS = ("-m", "tests.steps.trap", "SIGKILL", "99", "100")


@pytest.fixture(autouse=True)
def no_traces():
    set_tracing_disabled(True)


async def through_each(make, run, script):
    """What the tools have told, by framework; each has a run, and tools, of its own."""
    turns = [turn(make(), f"{run}/{name}", script) for name, turn in FRAMEWORKS.items()]
    return dict(zip(FRAMEWORKS, await asyncio.gather(*turns), strict=True))


async def sent(world, run):
    """The requests, by framework."""
    return {name: len(await facts.posts(world, f"{run}/{name}/*")) for name in FRAMEWORKS}


async def test_parallel_agents_of_runs_of_their_own_share_an_intent_that_has_a_name(
    working, world, step_id
):
    """Without a name for it, each run has an effect of its own, as the docs say."""
    named = {"keyed": lambda refund: f"{step_id}/intent/{refund.order}"}
    async with working(tools.keyed) as surestep:
        told = await through_each(
            lambda: AgentTools(surestep, tools.keyed, intents=named),
            step_id,
            [[("keyed", REFUND)], [("keyed", OTHER)], "done"],
        )
        assert len(await facts.posts(world, f"{step_id}/*")) == 1
        await through_each(
            lambda: AgentTools(surestep, tools.keyed), step_id, [[("keyed", REFUND)], "done"]
        )
    done, other = zip(*told.values(), strict=True)
    assert len(set(done)) == len(set(other)) == 1
    assert f"[surestep: {step_id}/intent/o-1 confirmed]" in done[0]
    assert other[0].startswith("Nothing was sent for this call.")
    assert await sent(world, step_id) == dict.fromkeys(FRAMEWORKS, 1)


async def test_a_model_that_insists_while_the_outcome_is_unknown_sends_once(
    working, world, step_id
):
    await world.fault(f"{step_id}/*", write=["reply_lost"] * len(FRAMEWORKS))
    async with working(tools.blind) as surestep:
        told = await through_each(
            lambda: AgentTools(surestep, tools.blind, within=timedelta(seconds=0.05)),
            step_id,
            [*[[("blind", REFUND)]] * 10, "I wait"],
        )
        for name in FRAMEWORKS:
            await facts.applied(world, f"{step_id}/{name}/*")
    for name, replies in told.items():
        assert (name, len(replies), len(set(replies))) == (name, 10, 1)
        assert f"[surestep: {step_id}/{name}/blind/1 pending]" in replies[0]
        assert "Do not call it again" in replies[0]
    assert await sent(world, step_id) == dict.fromkeys(FRAMEWORKS, 1)


async def test_one_approval_is_one_effect_though_the_worker_is_killed_before_it_reports(
    workers,  # noqa: F811
    client,
    world,
    step_id,
):
    """The call that the model makes again is neither asked about nor sent."""
    steps = [f"{step_id}/{name}/approved/1" for name in FRAMEWORKS]
    known = Tools(approved)
    await world.fault(f"{step_id}/*", write=["expect_kill"] * len(FRAMEWORKS))
    async with deciding_worker(client, unhurried(tools.QUICK, approved), workers.queue):
        killed = await workers.start(*ACTS, tool_seconds=1.5, SURESTEP_TOOLS=PLACE)
        surestep = Surestep(client, task_queue=workers.queue)
        script = [[("approved", REFUND)], [("approved", REFUND)], "done"]
        agents = asyncio.create_task(
            through_each(lambda: AgentTools(surestep, approved), step_id, script)
        )
        await asyncio.gather(*(approve(surestep, step) for step in steps))
        for name in FRAMEWORKS:
            await facts.applied(world, f"{step_id}/{name}/*")
        await killed.kill()
        async with acting_worker(client, known, task_queue=workers.queue):
            told = await agents
    for step, replies in zip(steps, told.values(), strict=True):
        assert len(set(replies)) == 1
        assert f"[surestep: {step} confirmed]" in replies[0]
    assert await sent(world, step_id) == dict.fromkeys(FRAMEWORKS, 1)


async def test_a_workflow_that_is_retried_after_its_model_failed_finds_what_its_agent_did(
    working, client, world, step_id
):
    async with working(tools.keyed) as surestep:
        queue = f"{surestep.task_queue}-agents"
        turns = [Turns(surestep).turn]
        async with Worker(client, task_queue=queue, workflows=[Retried], activities=turns):
            runs = [
                client.execute_workflow(
                    Retried.run,
                    name,
                    id=f"{step_id}/{name}",
                    task_queue=queue,
                    retry_policy=RetryPolicy(
                        maximum_attempts=3, initial_interval=timedelta(seconds=0.1)
                    ),
                )
                for name in FRAMEWORKS
            ]
            told = dict(zip(FRAMEWORKS, await asyncio.gather(*runs), strict=True))
    for name, replies in told.items():
        assert len(replies) == 1
        assert f"[surestep: {step_id}/{name}/keyed/1 confirmed]" in replies[0]
    assert await sent(world, step_id) == dict.fromkeys(FRAMEWORKS, 1)
