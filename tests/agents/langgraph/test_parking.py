"""A graph that waits for a step without holding a process."""

import asyncio
from datetime import timedelta

import pytest
from langchain_core.tools import tool
from langgraph.types import Command, interrupt

from surestep import ApprovalRule, ContractError, State
from surestep.agents import AgentTools
from surestep.agents.langgraph import surestep_tools
from tests.agents.langgraph.scripted import (
    OTHER,
    REFUND,
    agent,
    results,
    thread,
    user,
    written_by_hand,
)
from tests.steps import facts, tools

BOTH = [("blind", REFUND), ("blind", OTHER)]
SOON = timedelta(seconds=0.3)


approved = tools.careful(
    "approved", "keyed", key=tools.KEYED, approval=ApprovalRule(), **tools.PROMPT
)


@pytest.fixture
async def surestep(working, world, step_id):
    """Every answer of the service is lost, and it cannot be looked up: a person is asked."""
    await world.fault(f"{step_id}/*", write=["reply_lost"] * 2)
    async with working(tools.blind, approved) as surestep:
        yield surestep


async def interrupts(graph, run):
    return (await graph.aget_state(thread(run))).interrupts


async def test_each_call_of_a_turn_parks_by_itself_and_parks_again_if_it_is_resumed_too_early(
    surestep, world, step_id, checkpoints, decide
):
    ours = surestep_tools(AgentTools(surestep, tools.blind, within=SOON), park=True)
    graph = agent(ours, [BOTH, "done"], checkpoints)
    await graph.ainvoke(user(), thread(step_id))
    parked = {one.value["step_id"]: one.id for one in await interrupts(graph, step_id)}
    first, second = f"{step_id}/blind/1", f"{step_id}/blind/2"
    assert parked.keys() == {first, second}
    await decide(surestep, first, "confirm")
    await graph.ainvoke(Command(resume=dict.fromkeys(parked.values(), "look")), thread(step_id))
    (left,) = await interrupts(graph, step_id)
    assert left.value["step_id"] == second
    await decide(surestep, second, "abandon")
    told = results(await graph.ainvoke(Command(resume="look"), thread(step_id)))
    assert {one.artifact["state"] for one in told} == {"confirmed", "not_found"}
    assert len(await facts.posts(world, f"{step_id}/*")) == 2


async def test_calls_that_share_a_task_park_together(surestep, world, step_id, checkpoints, decide):
    ours = surestep_tools(AgentTools(surestep, tools.blind, within=SOON), park=True)
    graph = written_by_hand(ours, [BOTH, "done"], checkpoints)
    await graph.ainvoke(user(), thread(step_id))
    assert len(await interrupts(graph, step_id)) == 1
    for number in (1, 2):
        await decide(surestep, f"{step_id}/blind/{number}", "confirm")
    told = results(await graph.ainvoke(Command(resume="look"), thread(step_id)))
    assert [one.artifact["state"] for one in told] == ["confirmed"] * 2
    assert len(await facts.posts(world, f"{step_id}/*")) == 2


async def test_what_resumes_a_parked_call_is_never_taken_for_the_answer_to_another_interrupt(
    surestep, world, step_id, checkpoints, decide
):
    answers = []

    @tool
    async def approve() -> str:
        """Ask a person, after a while."""
        await facts.applied(world, f"{step_id}/*")
        await asyncio.sleep(2 * SOON.total_seconds())
        answers.append(interrupt("may I?"))
        return "asked"

    ours = surestep_tools(AgentTools(surestep, tools.blind, within=SOON), park=True)
    graph = written_by_hand(
        [*ours, approve], [[("blind", REFUND), ("approve", {})], "done"], checkpoints
    )
    await graph.ainvoke(user(), thread(step_id))
    assert [one.value for one in await interrupts(graph, step_id)] == ["may I?"]
    await decide(surestep, f"{step_id}/blind/1", "confirm")
    told = results(await graph.ainvoke(Command(resume="no"), thread(step_id)))
    assert answers == ["no"]
    assert told[0].artifact["state"] == "confirmed"
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_an_approved_call_that_the_model_makes_again_is_neither_asked_nor_sent_again(
    surestep, world, step_id, checkpoints, decide
):
    ours = surestep_tools(AgentTools(surestep, approved, within=SOON), park=True)
    graph = agent(ours, [[("approved", REFUND)], [("approved", REFUND)], "done"], checkpoints)
    await graph.ainvoke(user(), thread(step_id))
    (parked,) = await interrupts(graph, step_id)
    assert not await facts.posts(world, f"{step_id}/*")
    step = parked.value["step_id"]
    await decide(surestep, step, "approve")
    assert (await surestep.recall(step)).state is State.CONFIRMED
    first, again = results(await graph.ainvoke(Command(resume="look"), thread(step_id)))
    assert first.content == again.content
    assert first.artifact["state"] == "confirmed"
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_stubborn_model_that_calls_ten_times_while_the_outcome_is_unknown_sends_once(
    surestep, world, step_id, checkpoints
):
    ours = surestep_tools(AgentTools(surestep, tools.blind, within=timedelta(seconds=0.05)))
    graph = agent(ours, [*[[("blind", REFUND)]] * 10, "I wait"], checkpoints)
    told = results(await graph.ainvoke(user(), thread(step_id)))
    assert {one.content for one in told} == {told[0].content}
    assert {one.artifact["advice"] for one in told} == {"wait"}
    await facts.applied(world, f"{step_id}/*")
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_call_of_a_sub_agent_parks_the_graph_above_it(
    surestep, world, step_id, checkpoints, decide
):
    ours = surestep_tools(AgentTools(surestep, tools.blind, within=SOON), park=True)
    helped = []

    @tool
    async def delegate() -> str:
        """Have a sub-agent do it."""
        helped.append(agent(ours, [[("blind", REFUND)], "it is done"], None))
        return (await helped[-1].ainvoke(user()))["messages"][-1].text

    graph = agent([delegate], [[("delegate", {})], "done"], checkpoints)
    await graph.ainvoke(user(), thread(step_id))
    (parked,) = await interrupts(graph, step_id)
    await decide(surestep, parked.value["step_id"], "confirm")
    (told,) = results(await graph.ainvoke(Command(resume={parked.id: "look"}), thread(step_id)))
    assert told.content == "it is done"
    assert len(helped) == 2
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


def test_parking_needs_to_know_after_how_long():
    with pytest.raises(ContractError, match="within"):
        surestep_tools(AgentTools(None, tools.blind), park=True)
