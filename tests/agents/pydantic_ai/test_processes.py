"""What outlives the process of an agent of Pydantic AI."""

import pytest
import pytest_asyncio
from pydantic_ai.conversation import ConversationTypeAdapter

from surestep import Verdict
from tests.agents.killed import left_by
from tests.agents.pydantic_ai.child import parking
from tests.agents.pydantic_ai.script import OTHER, REFUND, calls, outputs, says, scripted
from tests.saying import say
from tests.steps import facts
from tests.waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def left(temporal_address, tmp_path_factory):
    child = "tests.agents.pydantic_ai.child"
    async with left_by(child, temporal_address, tmp_path_factory.mktemp("left")) as found:
        yield found


@pytest.fixture
def world(left):
    return left.world


async def again(left, name, *script):
    """The same turn once more, in this process: what tools have answered in it."""
    agent, _ = scripted(left.surestep, *script, says())
    result = await agent.run("refund o-1", conversation_id=f"{left.runs}/{name}")
    return outputs(result.all_messages())


async def test_a_killed_agent_that_plans_the_same_again_gets_the_outcome_of_what_it_did(
    left, world
):
    assert "same/keyed/1 confirmed" in (await again(left, "same", calls(REFUND)))[0]
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
    agent, ours = scripted(surestep, says(), **parking)
    kept = ConversationTypeAdapter.validate_json((left.folder / "conversation.json").read_bytes())
    parked = kept.deferred_tool_requests
    assert parked.remaining(await ours.results(parked)) == parked
    await facts.parked(surestep, step)
    await say(surestep, step, Verdict.CONFIRM, by="ann")

    async def all_settled():
        results = await ours.results(parked)
        return None if parked.remaining(results) else results

    results = await eventually(all_settled)
    result = await agent.run(conversation=kept, deferred_tool_results=results)
    assert f"{step} confirmed" in outputs(result.all_messages())[-1]
    assert result.output == "done"
    assert len(await facts.posts(world, f"{left.runs}/parked/*")) == 1
