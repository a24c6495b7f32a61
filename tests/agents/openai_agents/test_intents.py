"""Which step a call of a model means, in the OpenAI Agents SDK."""

import json
import sys
from importlib import import_module

import pytest
from agents import (
    Agent,
    RunConfig,
    Runner,
    RunState,
    SQLiteSession,
    ToolExecutionConfig,
    UserError,
    function_tool,
)
from agents.testing import ScriptedModel
from pydantic import BaseModel

from surestep import Contract, Effect, Tool, Verdict
from surestep.agents import AgentTools, agent_run
from surestep.agents.openai_agents import FunctionTools
from tests.agents.openai_agents.child import SHORT
from tests.agents.openai_agents.script import OTHER, REFUND, calls, outputs, says, scripted
from tests.saying import say
from tests.steps import facts, tools
from tests.waiting import eventually


@pytest.fixture
def run(step_id):
    with agent_run(step_id):
        yield step_id


async def effects(world, run):
    return len(await facts.posts(world, f"{run}/*"))


@pytest.mark.parametrize("kept", [True, False], ids=["with a session", "without one"])
async def test_a_turn_that_is_tried_again_calls_under_a_new_id_and_has_one_effect(
    working, world, run, kept
):
    session = SQLiteSession(run) if kept else None
    script = [calls(REFUND), RuntimeError("the model is away"), calls(REFUND), says()]
    async with working(tools.keyed) as surestep:
        agent, _ = scripted(surestep, *script)
        with pytest.raises(RuntimeError, match="away"):
            await Runner.run(agent, "refund o-1", session=session)
        again = await Runner.run(agent, "refund o-1", session=session)
    assert f"[surestep: {run}/keyed/1 confirmed]" in outputs(again.to_input_list())[-1]
    assert await effects(world, run) == 1


async def test_a_stubborn_model_that_calls_ten_times_makes_one_effect(working, world, run):
    async with working(tools.keyed) as surestep:
        agent, _ = scripted(surestep, *[calls(REFUND) for _ in range(10)], says())
        streamed = Runner.run_streamed(agent, "refund o-1", max_turns=11)
        async for _ in streamed.stream_events():
            pass
    replies = outputs(streamed.to_input_list())
    assert len(replies) == 10
    assert len(set(replies)) == 1
    assert await effects(world, run) == 1


@pytest.mark.parametrize("at_once", [None, 1], ids=["together", "one by one"])
async def test_two_calls_of_one_turn_are_two_effects_and_an_equal_third_is_none(
    working, world, run, at_once
):
    config = RunConfig(tool_execution=ToolExecutionConfig(max_function_tool_concurrency=at_once))
    async with working(tools.keyed) as surestep:
        agent, _ = scripted(surestep, calls(REFUND, OTHER, REFUND), says())
        result = await Runner.run(agent, "refund o-1 twice", run_config=config)
    first, second, third = outputs(result.to_input_list())
    assert first == third
    assert "confirmed" in first
    assert "confirmed" in second
    assert await effects(world, run) == 2


@pytest.mark.parametrize("held", [{}, {"conversation_id": "conv_1"}], ids=["here", "by the model"])
async def test_another_call_of_the_same_run_is_done_for_the_model_knows_the_first(
    working, world, run, held
):
    async with working(tools.keyed) as surestep:
        agent, _ = scripted(surestep, calls(REFUND), calls(OTHER), calls(REFUND), says())
        result = await Runner.run(agent, "refund o-1", **held)
    assert "refused" not in str(outputs(result.to_input_list()))
    assert await effects(world, run) == 2


async def test_the_same_arguments_in_two_turns_of_the_user_are_two_effects(working, world, run):
    session = SQLiteSession(run)
    async with working(tools.keyed) as surestep:
        agent, _ = scripted(surestep, calls(REFUND), says(), calls(REFUND), says())
        await Runner.run(agent, "refund o-1", session=session)
        await Runner.run(agent, "and once more", session=session)
    assert await effects(world, run) == 2


async def test_a_call_id_that_a_provider_uses_again_is_a_call_of_its_own(working, world, run):
    session = SQLiteSession(run)
    async with working(tools.keyed) as surestep:
        script = [calls(REFUND, call_id="0"), says(), calls(OTHER, call_id="0"), says()]
        agent, _ = scripted(surestep, *script)
        await Runner.run(agent, "refund o-1", session=session)
        result = await Runner.run(agent, "and some more", session=session)
    assert f"{run}/keyed/2 confirmed" in outputs(result.to_input_list())[-1]
    assert await effects(world, run) == 2


async def test_a_run_that_goes_on_from_its_saved_state_knows_what_it_did(working, world, run):
    @function_tool(needs_approval=True)
    def write(text: str) -> str:
        """Write to the customer."""
        return "written"

    async with working(tools.keyed) as surestep:
        script = [*calls(REFUND), *calls({"text": "hello"}, tool="write")]
        agent, _ = scripted(surestep, script, beside=[write])
        result = await Runner.run(agent, "refund o-1 and write")
        kept = json.dumps(result.to_state().to_json())
        restarted, _ = scripted(surestep, calls(REFUND), calls(OTHER), says(), beside=[write])
        state = await RunState.from_json(restarted, json.loads(kept))
        state.approve(state.get_interruptions()[0])
        result = await Runner.run(restarted, state)
    assert "confirmed" in outputs(result.to_input_list())[-1]
    assert await effects(world, run) == 2


async def test_a_sub_agent_with_the_same_intent_has_no_effect_of_its_own(working, world, run):
    """An agent that is a tool, with a session that outlasts its tasks. What is not the same, which
    its first call is, it does at once: that the agent above it knows the first is enough."""
    async with working(tools.keyed) as surestep:
        tasks = [calls(OTHER), says("I did"), calls(REFUND), says("I did"), calls(REFUND), says()]
        clerk, ours = scripted(surestep, *tasks)
        part = clerk.as_tool("clerk", "refunds", session=SQLiteSession("clerk"))
        ask = [calls({"input": "refund o-1"}, tool="clerk") for _ in range(3)]
        model = ScriptedModel([calls(REFUND), *ask, says()])
        support = Agent(name="Support", model=model, tools=[*ours.tools, part], hooks=ours)
        await Runner.run(support, "refund o-1")
    assert await effects(world, run) == 2


async def test_a_call_that_an_agent_as_a_tool_has_parked_is_settled_as_well(working, world, run):
    await world.fault(f"{run}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep:
        parking = {"tool": tools.blind, "within": SHORT, "park": True}

        def agents(*script, of_clerk):
            clerk, ours = scripted(surestep, *of_clerk, **parking)
            part = clerk.as_tool("clerk", "refunds")
            return scripted(surestep, *script, beside=[part])[0], ours

        ask = calls({"input": "refund o-1"}, tool="clerk")
        support, _ = agents(ask, of_clerk=[calls(REFUND, tool="blind")])
        result = await Runner.run(support, "refund o-1")
        kept = json.dumps(result.to_state().to_json())
        await facts.parked(surestep, f"{run}/blind/1")
        await say(surestep, f"{run}/blind/1", Verdict.CONFIRM, by="ann")
        support, ours = agents(says(), of_clerk=[says("I did")])
        state = await RunState.from_json(support, json.loads(kept))
        assert await eventually(lambda: ours.settle(state))
        result = await Runner.run(support, state)
    assert outputs(result.to_input_list()) == ["I did"]
    assert await effects(world, run) == 1


async def test_the_agent_that_a_conversation_is_handed_to_goes_on_in_it(working, world, run):
    async with working(tools.keyed) as surestep:
        second, _ = scripted(surestep, calls(REFUND), calls(OTHER), says())
        ours = FunctionTools(AgentTools(surestep, tools.keyed))
        script = [calls(REFUND), calls({}, tool="transfer_to_support")]
        first = Agent(
            name="Front",
            model=ScriptedModel(script),
            tools=ours.tools,
            hooks=ours,
            handoffs=[second],
        )
        result = await Runner.run(first, "refund o-1")
    assert result.last_agent is second
    assert await effects(world, run) == 2


async def test_bad_arguments_are_answered_and_cost_nothing(working, world, run):
    async with working(tools.keyed) as surestep:
        bad = [calls({"order": "o-1", "cents": "much"}), calls('{"order": '), calls("[]")]
        agent, _ = scripted(surestep, *bad, calls(REFUND), says())
        result = await Runner.run(agent, "refund o-1")
    *refused, done = outputs(result.to_input_list())
    assert all(text.startswith("Nothing was sent") for text in refused)
    assert "cents" in refused[0]
    assert "confirmed" in done
    assert await effects(world, run) == 1


async def test_a_group_id_names_the_run_and_without_a_name_nothing_is_sent(working, world, step_id):
    async with working(tools.keyed) as surestep:
        agent, _ = scripted(surestep, calls(REFUND), calls(REFUND), says())
        with pytest.raises(UserError, match="group_id"):
            await Runner.run(agent, "refund o-1")
        config = RunConfig(group_id=step_id)
        await Runner.run(agent, "refund o-1", run_config=config)
    assert await effects(world, step_id) == 1


async def test_an_agent_whose_hooks_they_are_not_sends_nothing(working, world, run):
    async with working(tools.keyed) as surestep:
        agent, _ = scripted(surestep, calls(REFUND))
        agent.hooks = None
        with pytest.raises(UserError, match="hooks=ours"):
            await Runner.run(agent, "refund o-1")
    assert await effects(world, run) == 0


class Note(BaseModel):
    """Attach a note."""

    labels: dict[str, int]


def test_a_tool_is_declared_once_and_strictly_where_it_can_be():
    note = Tool("note", Note, Contract(effect=Effect.READ))
    note.execute(tools.send)
    charge, note = FunctionTools(AgentTools(None, tools.keyed, note)).tools
    assert charge.strict_json_schema
    assert charge.params_json_schema["required"] == ["order", "cents"]
    assert "call it once" in charge.description
    assert not note.strict_json_schema
    assert note.description == "Attach a note."


def test_without_the_sdk_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "agents", None)
    monkeypatch.delitem(sys.modules, FunctionTools.__module__)
    with pytest.raises(ImportError, match=r"surestep\[openai-agents\]"):
        import_module(FunctionTools.__module__)
