"""Which step a call means: the same intent keeps its step, an intended repeat gets its own."""

import asyncio
from uuid import uuid4

import pytest
from pydantic import BaseModel, Field

from surestep import Contract, ContractError, Effect, InvalidArguments, Tool
from surestep.agents import AgentTools, Asked, Conversation, agent_run
from tests.steps import facts, tools

REFUND = {"order": "o-1", "cents": 2500}


def asked(arguments=REFUND, tool="keyed"):
    return Asked(tool=tool, arguments=arguments)


@pytest.fixture
def run(step_id):
    return step_id


async def test_a_stubborn_model_that_calls_ten_times_makes_one_effect(working, world, run):
    async with working(tools.keyed) as surestep:
        agent, told, replies = AgentTools(surestep, tools.keyed), "", []
        for _ in range(10):
            seen = Conversation(turn=(asked(),), told=told)
            reply = await agent.call("keyed", REFUND, run=run, conversation=seen)
            told += reply.text
            replies.append(reply)
    assert {reply.text for reply in replies} == {replies[0].text}
    assert replies[0].state == "confirmed"
    assert len(await facts.posts(world, f"{run}/*")) == 1


async def test_the_same_call_twice_in_one_turn_is_one_effect(working, world, run):
    async with working(tools.keyed) as surestep:
        agent, seen = AgentTools(surestep, tools.keyed), Conversation(turn=(asked(), asked()))
        first, second = await asyncio.gather(
            agent.call("keyed", REFUND, run=run, conversation=seen),
            agent.call("keyed", REFUND, run=run, conversation=seen),
        )
    assert first == second
    assert len(await facts.posts(world, f"{run}/*")) == 1


async def test_the_same_call_after_the_user_has_spoken_again_is_a_new_intent(working, world, run):
    async with working(tools.keyed) as surestep:
        agent = AgentTools(surestep, tools.keyed)
        first = await agent.call(
            "keyed", REFUND, run=run, conversation=Conversation(turn=(asked(),))
        )
        later = Conversation(turn=(asked(),), told_before=first.text)
        second = await agent.call("keyed", REFUND, run=run, conversation=later)
        again = await agent.call("keyed", REFUND, run=run, conversation=later)
    assert (first.step_id, second.step_id) == (f"{run}/keyed/1", f"{run}/keyed/2")
    assert again == second
    assert len(await facts.posts(world, f"{run}/*")) == 2


async def test_two_calls_of_one_turn_are_two_effects(working, world, run):
    other = {"order": "o-2", "cents": 100}
    seen = Conversation(turn=(asked(), asked(other)))
    async with working(tools.keyed) as surestep:
        agent = AgentTools(surestep, tools.keyed)
        replies = await asyncio.gather(
            agent.call("keyed", REFUND, run=run, conversation=seen),
            agent.call("keyed", other, run=run, conversation=seen),
        )
    assert len({reply.step_id for reply in replies}) == 2
    assert len(await facts.posts(world, f"{run}/*")) == 2


async def test_a_replanning_agent_is_told_first_what_it_did_and_forgot(working, world, run):
    other = {"order": "o-1", "cents": 2400}
    async with working(tools.keyed) as surestep:
        killed = AgentTools(surestep, tools.keyed)
        await killed.call("keyed", REFUND, run=run, conversation=Conversation(turn=(asked(),)))
        restarted = AgentTools(surestep, tools.keyed)
        seen = Conversation(turn=(asked(other),))
        reply = await restarted.call("keyed", other, run=run, conversation=seen)
        assert reply.state == "refused"
        assert f"[surestep: {run}/keyed/1 confirmed]" in reply.text
        assert len(await facts.posts(world, f"{run}/*")) == 1
        seen = Conversation(turn=(asked(other),), told=reply.text)
        knowing = await restarted.call("keyed", other, run=run, conversation=seen)
    assert knowing.step_id == f"{run}/keyed/2"
    assert len(await facts.posts(world, f"{run}/*")) == 2


class Stamped(BaseModel):
    order: str
    reference: str = Field(default_factory=lambda: uuid4().hex)


async def test_a_tool_whose_arguments_differ_each_time_is_refused():
    stamped = Tool("stamped", Stamped, Contract(effect=Effect.READ))
    stamped.execute(tools.send)
    agent = AgentTools(None, stamped)
    with pytest.raises(ContractError, match="default_factory"):
        await agent.call("stamped", {"order": "o-1"}, run="a-run")


async def test_a_run_without_a_name_is_refused_with_the_remedy(working, run):
    async with working(tools.keyed) as surestep:
        agent = AgentTools(surestep, tools.keyed)
        with pytest.raises(InvalidArguments, match="agent_run"):
            await agent.call("keyed", REFUND)
        with agent_run(run):
            reply = await agent.call("keyed", REFUND)
    assert reply.step_id == f"{run}/keyed/1"
