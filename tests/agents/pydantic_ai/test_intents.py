"""Which step a call of a model means, in Pydantic AI."""

import sys
from importlib import import_module

import pytest
from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    ApprovalRequired,
    DeferredToolRequests,
    DeferredToolResults,
    capture_run_messages,
)
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import WrapperToolset

from surestep import InvalidArguments
from surestep.agents import AgentTools, agent_run
from surestep.agents.pydantic_ai import SurestepToolset
from tests.agents.pydantic_ai.script import OTHER, REFUND, calls, outputs, says, scripted
from tests.steps import facts, tools


class Summary(BaseModel):
    text: str


async def effects(world, run):
    return len(await facts.posts(world, f"{run}/*"))


@pytest.mark.parametrize("kept", [True, False], ids=["with its messages", "without them"])
async def test_a_turn_that_is_tried_again_calls_under_a_new_id_and_has_one_effect(
    working, world, step_id, kept
):
    script = [calls(REFUND), RuntimeError("the model is away"), calls(REFUND), says()]
    async with working(tools.keyed) as surestep:
        agent, _ = scripted(surestep, *script)
        with capture_run_messages() as messages, pytest.raises(RuntimeError, match="away"):
            await agent.run("refund o-1", conversation_id=step_id)
        again = await agent.run(
            "refund o-1", conversation_id=step_id, message_history=messages if kept else None
        )
    assert f"[surestep: {step_id}/keyed/1 confirmed]" in outputs(again.new_messages())[0]
    assert await effects(world, step_id) == 1


async def test_a_stubborn_model_that_calls_ten_times_makes_one_effect(working, world, step_id):
    async with working(tools.keyed) as surestep:
        agent, _ = scripted(surestep, *[calls(REFUND) for _ in range(10)], says())
        result = await agent.run("refund o-1", conversation_id=step_id)
    replies = outputs(result.all_messages())
    assert len(replies) == 10
    assert len(set(replies)) == 1
    assert await effects(world, step_id) == 1


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
async def test_two_calls_of_one_turn_are_two_effects_and_an_equal_third_is_none(
    working, world, step_id, mode
):
    async with working(tools.keyed) as surestep:
        agent, _ = scripted(surestep, calls(REFUND, OTHER, REFUND), says())
        with agent.parallel_tool_call_execution_mode(mode):
            result = await agent.run("refund o-1 twice", conversation_id=step_id)
    first, second, third = outputs(result.all_messages())
    assert first == third
    assert "confirmed" in first
    assert "confirmed" in second
    assert await effects(world, step_id) == 2


async def test_another_call_of_the_same_run_is_done_for_the_model_knows_the_first(
    working, world, step_id
):
    """Also where a toolset around ours has given the tools other names."""
    async with working(tools.keyed, tools.lookup) as surestep:
        ours = SurestepToolset(AgentTools(surestep, tools.keyed, tools.lookup)).prefixed("our")
        script = [calls(REFUND, tool="our_keyed"), calls(REFUND, tool="our_lookup")]
        agent, _ = scripted(
            surestep, *script, calls(OTHER, tool="our_keyed"), says(), toolsets=[ours]
        )
        result = await agent.run("refund o-1", conversation_id=step_id)
    assert len(set(outputs(result.all_messages()))) == 3
    assert await effects(world, step_id) == 3


@pytest.mark.parametrize("output", [str, Summary], ids=["a text", "an output tool"])
async def test_the_same_arguments_in_two_turns_of_the_user_are_two_effects(
    working, world, step_id, output
):
    """The history is stored between them, and with it the conversation's id."""
    end = says() if output is str else calls({"text": "done"}, tool="final_result")
    async with working(tools.keyed) as surestep:
        script = [calls(REFUND), end, calls(REFUND), end]
        agent, _ = scripted(surestep, *script, output_type=output)
        first = await agent.run("refund o-1", conversation_id=step_id)
        history = ModelMessagesTypeAdapter.validate_json(first.all_messages_json())
        await agent.run("and once more", message_history=history)
    assert await effects(world, step_id) == 2


async def test_a_call_id_that_a_provider_uses_again_is_a_call_of_its_own(working, world, step_id):
    async with working(tools.keyed) as surestep:
        script = [calls(REFUND, call_id="0"), says(), calls(OTHER, call_id="0"), says()]
        agent, _ = scripted(surestep, *script)
        first = await agent.run("refund o-1", conversation_id=step_id)
        second = await agent.run("and some more", message_history=first.all_messages())
    assert f"{step_id}/keyed/2 confirmed" in outputs(second.new_messages())[-1]
    assert await effects(world, step_id) == 2


async def test_a_run_that_goes_on_from_its_stored_messages_knows_what_it_did(
    working, world, step_id
):
    async with working(tools.keyed) as surestep:
        agent, _ = scripted(surestep, calls(REFUND), RuntimeError("the model is away"))
        with capture_run_messages() as messages, pytest.raises(RuntimeError, match="away"):
            await agent.run("refund o-1", conversation_id=step_id)
        kept = ModelMessagesTypeAdapter.dump_json(messages)
        restarted, _ = scripted(surestep, calls(REFUND), calls(OTHER), says())
        result = await restarted.run(message_history=ModelMessagesTypeAdapter.validate_json(kept))
    assert "confirmed" in outputs(result.new_messages())[-1]
    assert await effects(world, step_id) == 2


async def test_a_sub_agent_with_the_same_intent_has_no_effect_of_its_own(working, world, step_id):
    async with working(tools.keyed) as surestep:
        clerk, _ = scripted(surestep, calls(REFUND), says("I did"), calls(REFUND), says("I did"))
        support, _ = scripted(surestep, calls(REFUND), *[calls({}, tool="ask")] * 2, says())

        @support.tool
        async def ask(ctx) -> str:
            """Have the clerk refund."""
            return (await clerk.run("refund", conversation_id=ctx.conversation_id)).output

        await support.run("refund o-1", conversation_id=step_id)
    assert await effects(world, step_id) == 1


async def test_a_toolset_around_ours_that_executes_every_call_twice_makes_one_effect(
    working, world, step_id
):
    class Twice(WrapperToolset):
        async def call_tool(self, *args):
            await super().call_tool(*args)
            return await super().call_tool(*args)

    async with working(tools.keyed) as surestep:
        ours = Twice(SurestepToolset(AgentTools(surestep, tools.keyed)))
        agent, _ = scripted(surestep, calls(REFUND), says(), toolsets=[ours])
        result = await agent.run("refund o-1", conversation_id=step_id)
    assert f"[surestep: {step_id}/keyed/1 confirmed]" in outputs(result.all_messages())[0]
    assert await effects(world, step_id) == 1


async def test_a_tool_that_runs_again_from_its_beginning_after_each_approval_repeats_nothing(
    working, world, step_id
):
    reached = []
    async with working(tools.keyed) as surestep:
        ours = AgentTools(surestep, tools.keyed)
        end = [str, DeferredToolRequests]
        agent, _ = scripted(surestep, calls({}, tool="settle"), says(), output_type=end)

        @agent.tool
        async def settle(ctx) -> str:
            """Three effects, and a person before the second and the third."""
            approvals = ctx.tool_call_metadata or {"given": 0}
            for number in range(3):
                reached.append(number)
                given = {"order": "o-1", "cents": number + 1}
                await ours.call("keyed", given, run=ctx.conversation_id)
                if approvals["given"] == number < 2:
                    raise ApprovalRequired
            return "settled"

        result = await agent.run("settle o-1", conversation_id=step_id)
        for given in (1, 2):
            parked = result.output.approvals[0].tool_call_id
            approved = DeferredToolResults(
                approvals={parked: True}, metadata={parked: {"given": given}}
            )
            result = await agent.run(
                message_history=result.all_messages(), deferred_tool_results=approved
            )
    assert (result.output, reached) == ("done", [0, 0, 1, 0, 1, 2])
    sent = await world.effects(f"{step_id}/*")
    assert [(one.key, one.body["cents"]) for one in sent] == [
        (f"{step_id}/keyed/{number}/keyed", number) for number in (1, 2, 3)
    ]


async def test_bad_arguments_are_answered_and_cost_nothing(working, world, step_id):
    async with working(tools.keyed) as surestep:
        bad = [calls({"order": "o-1", "cents": "much"}), calls('{"order": '), calls("[]")]
        agent, _ = scripted(surestep, *bad, calls(REFUND), says(), retries=2)
        result = await agent.run("refund o-1", conversation_id=step_id)
    refused, *_, done = outputs(result.all_messages())
    assert refused.startswith("Nothing was sent")
    assert "cents" in refused
    assert "confirmed" in done
    assert await effects(world, step_id) == 1


async def test_an_id_that_pydantic_ai_made_up_names_no_run_until_it_is_kept(
    working, world, step_id
):
    async with working(tools.keyed) as surestep:
        agent, _ = scripted(surestep, calls(REFUND), says(), *[calls(REFUND), says()] * 2)
        with pytest.raises(InvalidArguments, match="conversation_id"):
            await agent.run("refund o-1")
        greeted = await agent.run("hello")
        name = greeted.all_messages()[0].conversation_id
        await agent.run("refund o-1", message_history=greeted.all_messages())
        with agent_run(step_id):
            await agent.run("refund o-1")
    assert await effects(world, name) == 1
    assert await effects(world, step_id) == 1


async def test_a_tool_is_declared_once(working, world, step_id):
    """The framework's own test model calls every tool, with arguments that fit its schema."""
    async with working(tools.keyed) as surestep:
        ours = SurestepToolset(AgentTools(surestep, tools.keyed))
        model = TestModel()
        await Agent(model, toolsets=[ours]).run("refund", conversation_id=step_id)
    declared = model.last_model_request_parameters.function_tools[0]
    assert declared.parameters_json_schema["required"] == ["order", "cents"]
    assert "call it once" in declared.description
    assert await effects(world, step_id) == 1


def test_without_pydantic_ai_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    monkeypatch.delitem(sys.modules, SurestepToolset.__module__)
    with pytest.raises(ImportError, match=r"surestep\[pydantic-ai\]"):
        import_module(SurestepToolset.__module__)
