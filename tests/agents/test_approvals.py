"""A run that waits for an approval is parked, and goes on elsewhere, in another context."""

import json
from datetime import timedelta

import pytest
from agents import Agent, Runner, RunState, set_tracing_disabled
from agents.testing import ScriptedModel
from pydantic_ai import DeferredToolRequests
from pydantic_ai.conversation import ConversationTypeAdapter

from surestep.agents import AgentTools, FunctionTools, SurestepToolset, agent_run
from surestep.testing import World
from tests.agents.approving import approve, approved
from tests.agents.openai_agents import script as openai
from tests.agents.pydantic_ai import script as pydantic
from tests.steps import facts
from tests.waiting import eventually

REFUND = {"order": "o-1", "cents": 2500}
SOON = timedelta(seconds=0.3)


def ours(surestep):
    """Our tools as another process has them: it remembers nothing."""
    return AgentTools(surestep, approved, within=SOON)


class OpenAIAgents:
    """Keeps a run as the JSON of its state."""

    def agent(self, surestep, run, *script):
        adapter = FunctionTools(ours(surestep), park=True)
        model = ScriptedModel(script)
        return Agent(name="Support", model=model, tools=adapter.tools, hooks=adapter), adapter

    async def park(self, surestep, run):
        agent, _ = self.agent(surestep, run, openai.calls(REFUND, tool="approved"))
        with agent_run(run):
            result = await Runner.run(agent, "refund it", context={"process": "A"})
        return json.dumps(result.to_state().to_json())

    async def resume(self, surestep, run, kept):
        again = openai.calls(REFUND, tool="approved")
        agent, adapter = self.agent(surestep, run, again, openai.says())
        state = await RunState.from_json(agent, json.loads(kept), context_override={"process": "B"})
        with agent_run(run):
            assert await eventually(lambda: adapter.settle(state))
            result = await Runner.run(agent, state)
        assert result.interruptions == []
        return openai.outputs(result.to_input_list())


class PydanticAI:
    """Keeps a run as the JSON of its conversation."""

    def agent(self, surestep, *script):
        adapter = SurestepToolset(ours(surestep), park=True)
        options = {"toolsets": [adapter], "output_type": [str, DeferredToolRequests]}
        return pydantic.scripted(None, *script, **options)[0], adapter

    async def park(self, surestep, run):
        agent, _ = self.agent(surestep, pydantic.calls(REFUND, tool="approved"))
        result = await agent.run("refund it", conversation_id=run, deps={"process": "A"})
        return ConversationTypeAdapter.dump_json(result.conversation)

    async def resume(self, surestep, run, kept):
        again = pydantic.calls(REFUND, tool="approved")
        agent, adapter = self.agent(surestep, again, pydantic.says())
        conversation = ConversationTypeAdapter.validate_json(kept)
        parked = conversation.deferred_tool_requests

        async def all_settled():
            results = await adapter.results(parked)
            return None if parked.remaining(results) else results

        results = await eventually(all_settled)
        result = await agent.run(
            conversation=conversation, deferred_tool_results=results, deps={"process": "B"}
        )
        assert result.output == "done"
        return pydantic.outputs(result.all_messages())


@pytest.mark.parametrize(
    "framework", [OpenAIAgents(), PydanticAI()], ids=lambda one: one.__class__.__name__
)
async def test_an_approval_is_known_to_whoever_goes_on_and_to_a_model_that_calls_again(
    framework, working, world: World, step_id
):
    set_tracing_disabled(True)
    step = f"{step_id}/approved/1"
    async with working(approved) as surestep:
        kept = await framework.park(surestep, step_id)
        assert not await facts.posts(world, f"{step_id}/*")
        await approve(surestep, step)
        told = await framework.resume(surestep, step_id, kept)
        assert f"[surestep: {step} confirmed]" in told[-1]
        assert told[-2:] == [told[-1]] * 2
        asked = facts.told(await surestep.handle(step).outcome()).count("a human is asked")
    assert asked == 1
    assert len(await facts.posts(world, f"{step_id}/*")) == 1
