"""A graph whose process ends, goes on in another one."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from langgraph.types import Command

from surestep.agents import AgentTools
from surestep.agents.langgraph import surestep_tools
from tests.agents.langgraph.scripted import OTHER, REFUND, agent, results, thread, user
from tests.steps import facts, tools

ROOT = Path(__file__).parents[3]
CALL = [("blind", REFUND)]


@pytest.fixture
async def child(temporal_address, kept, step_id):
    """Starts an agent in a process of its own; killed at the end."""
    started = []

    async def start(how, surestep):
        env = os.environ | {
            "TEMPORAL_ADDRESS": temporal_address,
            "SURESTEP_TASK_QUEUE": surestep.task_queue,
        }
        command = (sys.executable, "-m", "tests.agents.langgraph.child", how, kept, step_id)
        started.append(await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=env))
        return started[-1]

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_a_process_killed_between_effect_and_checkpoint_repeats_nothing(
    working, world, step_id, child, checkpoints, decide
):
    kept, lost = f"{step_id}/kept", f"{step_id}/lost"
    await world.fault(f"{step_id}/*", write=["reply_lost"] * 2)
    async with working(tools.blind) as surestep:
        process = await child("works", surestep)
        for run in (kept, lost):
            await facts.applied(world, f"{run}/*", within=60)
        process.kill()
        await process.wait()
        for run in (kept, lost):
            await decide(surestep, f"{run}/blind/1", "confirm")
        ours = surestep_tools(AgentTools(surestep, tools.blind))

        resumed = agent(ours, [CALL, "done"], checkpoints)
        assert (await resumed.aget_state(thread(kept))).next == ("tools",)
        (told,) = results(await resumed.ainvoke(None, thread(kept)))
        assert told.artifact["step_id"] == f"{kept}/blind/1"

        # It plans otherwise, is told what was done, and comes back to that.
        replanned = agent(ours, [[("blind", OTHER)], CALL, "done"], checkpoints)
        assert not (await replanned.aget_state(thread(lost))).values
        first, then = results(await replanned.ainvoke(user(), thread(lost)))
        assert first.artifact["state"] == "refused"
        assert f"[surestep: {lost}/blind/1 confirmed]" in first.content
        assert then.artifact["step_id"] == f"{lost}/blind/1"
    assert len(await facts.posts(world, f"{step_id}/*")) == 2
    assert await world.count(f"{kept}/*") == await world.count(f"{lost}/*") == 1


async def test_a_graph_parked_by_one_process_is_resumed_in_another_with_the_recorded_outcome(
    working, world, step_id, child, checkpoints, decide
):
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep:
        assert await (await child("parks", surestep)).wait() == 0
        graph = agent(
            surestep_tools(AgentTools(surestep, tools.blind)), [CALL, "done"], checkpoints
        )
        (parked,) = (await graph.aget_state(thread(step_id))).interrupts
        await decide(surestep, parked.value["step_id"], "confirm")
        (told,) = results(await graph.ainvoke(Command(resume=True), thread(step_id)))
    assert told.artifact["state"] == "confirmed"
    assert len(await facts.posts(world, f"{step_id}/*")) == 1
