"""Which step a call means, in LangGraph and LangChain."""

from contextlib import nullcontext

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel, Field

from surestep import Contract, ContractError, Effect, InvalidArguments, Tool
from surestep.agents import AgentTools
from surestep.agents.langgraph import surestep_tools
from tests.agents.langgraph.scripted import (
    OTHER,
    REFUND,
    Scripted,
    agent,
    results,
    thread,
    user,
    written_by_hand,
)
from tests.steps import facts, tools

CALL = [("keyed", REFUND)]


@pytest.fixture
def run(step_id):
    return step_id


@pytest.fixture
async def ours(working):
    """Our tools for a graph, with a worker that serves them."""
    async with working(tools.keyed) as surestep:
        yield surestep_tools(AgentTools(surestep, tools.keyed))


async def effects(world, run):
    return len(await facts.posts(world, f"{run}/*"))


async def test_a_stubborn_model_that_calls_ten_times_with_keys_of_its_own_makes_one_effect(
    ours, world, run, checkpoints
):
    calls = [[("keyed", REFUND | {"idempotency_key": f"m-{number}"})] for number in range(10)]
    graph = agent(ours, [*calls, "done"], checkpoints)
    told = results(await graph.ainvoke(user(), thread(run)))
    assert len(told) == 10
    assert {one.content for one in told} == {told[0].content}
    assert told[0].artifact == {"step_id": f"{run}/keyed/1", "state": "confirmed", "advice": "done"}
    assert await effects(world, run) == 1


async def test_a_call_id_that_is_used_again_for_another_call_hides_nothing(
    ours, world, run, checkpoints
):
    model = Scripted(script=[CALL, [("keyed", OTHER)], "done"], call_id="call_0")
    graph = create_agent(model, ours, checkpointer=checkpoints)
    first, other = results(await graph.ainvoke(user(), thread(run)))
    assert first.artifact != other.artifact
    assert await effects(world, run) == 2


async def test_a_wrapper_that_executes_every_call_twice_makes_one_effect(
    ours, world, run, checkpoints
):
    async def twice(request, execute):
        await execute(request)
        return await execute(request)

    graph = written_by_hand(ours, [CALL, "done"], checkpoints, awrap_tool_call=twice)
    (told,) = results(await graph.ainvoke(user(), thread(run)))
    assert told.artifact["state"] == "confirmed"
    assert await effects(world, run) == 1


@pytest.mark.parametrize("made", [agent, written_by_hand])
async def test_the_same_call_twice_in_one_turn_is_one_effect_and_another_call_its_own(
    made, ours, world, run, checkpoints
):
    graph = made(ours, [[*CALL, *CALL, ("keyed", OTHER)], "done"], checkpoints)
    first, second, other = results(await graph.ainvoke(user(), thread(run)))
    assert first.artifact == second.artifact != other.artifact
    assert await effects(world, run) == 2


async def test_the_same_arguments_in_two_user_turns_are_two_effects(ours, world, run, checkpoints):
    graph = written_by_hand(ours, [CALL, CALL, "done", CALL, "done"], checkpoints)
    await graph.ainvoke(user(), thread(run))
    assert await effects(world, run) == 1
    await graph.ainvoke(user("once more"), thread(run))
    assert await effects(world, run) == 2
    # The second turn, from where the user had just spoken.
    states = [one async for one in graph.aget_state_history(thread(run)) if one.next == ("model",)]
    spoke = [one for one in states if one.values["messages"][-1].text == "once more"]
    await graph.ainvoke(None, spoke[0].config)
    assert await effects(world, run) == 2


async def test_a_structured_answer_ends_a_turn_as_well(ours, world, run, checkpoints):
    class Answer(BaseModel):
        text: str

    answer = [("Answer", {"text": "done"})]
    model = Scripted(script=[CALL, answer, CALL, answer])
    graph = create_agent(
        model, ours, response_format=ToolStrategy(Answer), checkpointer=checkpoints
    )
    await graph.ainvoke(user(), thread(run))
    await graph.ainvoke(user("once more"), thread(run))
    assert await effects(world, run) == 2


async def test_what_a_graph_says_in_the_users_place_is_no_new_wish(ours, world, run, checkpoints):
    graph = agent(ours, [CALL, "done", CALL, "done"], checkpoints)
    await graph.ainvoke(user(), thread(run))
    await graph.ainvoke(user("do it properly", name="reviewer"), thread(run))
    assert await effects(world, run) == 1


async def test_sub_agents_and_their_supervisor_with_the_same_intent_make_one_effect(
    ours, world, run, checkpoints
):
    @tool
    async def delegate(task: str) -> str:
        """Have a sub-agent do it."""
        helper = agent(ours, [CALL, "done"], None, name="helper")
        return (await helper.ainvoke(user(task)))["messages"][-1].text

    twice = [("delegate", {"task": "refund"}), ("delegate", {"task": "refund it"})]
    graph = agent([*ours, delegate], [twice, CALL, "done"], checkpoints)
    told = results(await graph.ainvoke(user(), thread(run)))
    assert told[-1].artifact["step_id"] == f"{run}/keyed/1"
    assert await effects(world, run) == 1


async def test_a_sub_agent_that_takes_over_from_a_failed_one_is_told_first_what_it_did(
    ours, world, run, checkpoints
):
    last = []

    @tool
    async def delegate(plan: int) -> str:
        """Have a sub-agent do it; the first breaks down after its call."""
        script = [[CALL], [[("keyed", OTHER)], "I leave it at that"]][plan]
        try:
            last.append(await agent(ours, script, None).ainvoke(user()))
        except IndexError:
            return "failed"
        return "done"

    plans = [[("delegate", {"plan": 0})], [("delegate", {"plan": 1})], "done"]
    await agent([delegate], plans, checkpoints).ainvoke(user(), thread(run))
    (told,) = results(last[0])
    assert told.artifact["state"] == "refused"
    assert f"[surestep: {run}/keyed/1 confirmed]" in told.content
    assert await effects(world, run) == 1


async def test_a_node_that_runs_again_from_its_beginning_after_each_interrupt_repeats_nothing(
    ours, world, run, checkpoints
):
    (keyed,) = ours
    reached = []

    async def node(state):
        for number in range(3):
            reached.append(number)
            await keyed.ainvoke({"order": "o-1", "cents": number + 1})
            if number < 2:
                interrupt("go on?")
        return state

    graph = StateGraph(dict)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    compiled = graph.compile(checkpointer=checkpoints)
    await compiled.ainvoke({"a": 1}, thread(run))
    for _ in range(2):
        await compiled.ainvoke(Command(resume=True), thread(run))
    assert reached == [0, 0, 1, 0, 1, 2]
    sent = await world.effects(f"{run}/*")
    assert [(one.key, one.body["cents"]) for one in sent] == [
        (f"{run}/keyed/{number}/keyed", number) for number in (1, 2, 3)
    ]


async def test_a_fork_from_an_earlier_checkpoint_finds_what_its_run_did(
    ours, world, run, checkpoints
):
    graph = agent(ours, [CALL, "done"], checkpoints)
    await graph.ainvoke(user(), thread(run))
    history = [one async for one in graph.aget_state_history(thread(run))]
    earlier = [one.config for one in history if one.next == ("model",)][-1]
    await graph.ainvoke(None, earlier)
    assert await effects(world, run) == 1
    other = [("keyed", OTHER)]
    replanned = agent(ours, [other, other, "done"], checkpoints)
    told, knowing = results(await replanned.ainvoke(None, earlier))
    assert await effects(world, run) == 2
    assert told.artifact["state"] == "refused"
    assert f"[surestep: {run}/keyed/1 confirmed]" in told.content
    assert knowing.artifact["step_id"] == f"{run}/keyed/2"


async def test_bad_arguments_are_answered_and_cost_nothing(ours, world, run, checkpoints):
    wrong = [("keyed", {"order": "o-1", "cents": "many"}), ("keyed", {})]
    graph = agent(ours, [wrong, CALL, "done"], checkpoints)
    *bad, good = results(await graph.ainvoke(user(), thread(run)))
    assert [one.artifact["state"] for one in bad] == ["refused", "refused"]
    assert "cents" in bad[0].content
    assert good.artifact["step_id"] == f"{run}/keyed/1"
    assert await effects(world, run) == 1


async def test_a_graph_without_a_thread_is_refused_with_the_remedy(ours, world):
    with pytest.raises(InvalidArguments, match="thread_id"):
        await agent(ours, [CALL, "done"], None).ainvoke(user())
    assert not await world.requests()


class Reserved(BaseModel):
    config: str


class Aliased(BaseModel):
    settings: str = Field(alias="config_name")


@pytest.mark.parametrize(("model", "fine"), [(Reserved, False), (Aliased, True)])
def test_an_argument_that_langchain_keeps_for_itself_is_refused_with_the_remedy(model, fine):
    reads = Tool("reads", model, Contract(effect=Effect.READ))

    @reads.execute
    async def _(args, call):
        raise NotImplementedError

    with nullcontext() if fine else pytest.raises(ContractError, match="alias"):
        assert list(surestep_tools(AgentTools(None, reads))[0].args) == ["config_name"]
