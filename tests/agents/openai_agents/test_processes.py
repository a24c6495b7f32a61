"""What outlives the process of an agent of the OpenAI Agents SDK."""

import json

import pytest
import pytest_asyncio
from agents import Runner, RunState, SQLiteSession

from surestep import Verdict
from surestep.agents import agent_run
from tests.agents.killed import left_by
from tests.agents.openai_agents.child import SHORT
from tests.agents.openai_agents.script import OTHER, REFUND, calls, outputs, says, scripted
from tests.saying import say
from tests.steps import facts, tools
from tests.waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def left(temporal_address, tmp_path_factory):
    child = "tests.agents.openai_agents.child"
    async with left_by(child, temporal_address, tmp_path_factory.mktemp("left")) as found:
        yield found


@pytest.fixture
def world(left):
    return left.world


async def again(left, name, *script):
    """The same turn once more, in this process: what tools have answered in it."""
    agent, _ = scripted(left.surestep, *script, says())
    session = SQLiteSession(f"{left.runs}/{name}", left.folder / "sessions.db")
    assert outputs(await session.get_items()) == []
    with agent_run(f"{left.runs}/{name}"):
        result = await Runner.run(agent, "refund o-1", session=session)
    return outputs(result.to_input_list())


async def test_a_killed_agent_that_plans_the_same_again_gets_the_outcome_of_what_it_did(
    left, world
):
    assert "same/keyed/1 confirmed" in (await again(left, "same", calls(REFUND)))[-1]
    assert len(await facts.posts(world, f"{left.runs}/same/*")) == 1


async def test_a_killed_agent_that_plans_otherwise_is_told_first_what_it_did(left, world):
    told, done = await again(left, "other", calls(OTHER), calls(OTHER))
    assert told.startswith("Nothing was sent")
    assert "other/keyed/1 confirmed" in told
    assert "other/keyed/2 confirmed" in done
    assert len(await facts.posts(world, f"{left.runs}/other/*")) == 2


async def test_a_parked_run_goes_on_in_another_process_with_the_recorded_outcome(left, world):
    surestep = left.surestep
    step = f"{left.runs}/parked/blind/1"
    agent, ours = scripted(surestep, says(), tool=tools.blind, within=SHORT, park=True)
    state = await RunState.from_json(agent, json.loads((left.folder / "state.json").read_text()))
    with agent_run(f"{left.runs}/parked"):
        assert not await ours.settle(state)
        await facts.parked(surestep, step)
        await say(surestep, step, Verdict.CONFIRM, by="ann")
        assert await eventually(lambda: ours.settle(state))
        result = await Runner.run(agent, state)
    assert f"{step} confirmed" in outputs(result.to_input_list())[-1]
    assert result.final_output == "done"
    assert len(await facts.posts(world, f"{left.runs}/parked/*")) == 1
