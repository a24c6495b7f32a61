"""Hostile histories: has the model answered, and does the user ask for something new by that?

Most are of a turn that is tried again, as applications do, with what the first try has left.
"""

import asyncio
from functools import partial

import pytest
from agents import Runner, SQLiteSession, function_tool, set_tracing_disabled
from agents.testing import assistant_message
from langchain_core.messages import AIMessage
from pydantic import BaseModel
from pydantic_ai import ModelRetry, capture_run_messages

from surestep.agents import AgentTools, ChatTools, Conversation, agent_run, surestep_tools
from tests.agents.calling import REFUND, asked, refund
from tests.agents.chat import model as chat
from tests.agents.langgraph import scripted as graphs
from tests.agents.openai_agents import script as openai
from tests.agents.pydantic_ai import script as pydantic
from tests.steps import facts, tools

AWAY = RuntimeError("the model is away")


async def effects(world, run):
    return len(await facts.posts(world, f"{run}/*"))


async def test_an_impatient_user_who_asks_again_while_an_action_is_under_way_does_not_get_two(
    working, world, step_id
):
    """In the same process, where the first turn still waits, and with a model that plans
    otherwise; calls of other conversations of the run go on."""
    key = f"{step_id}/keyed/1/keyed"
    await world.fault(key, write=["expect_kill"])
    async with working(tools.keyed) as surestep:
        call = partial(AgentTools(surestep, tools.keyed).call, "keyed", run=step_id)
        first = asyncio.create_task(call(REFUND, conversation=seen(REFUND)))
        await facts.applied(world, key)
        again = asyncio.create_task(call(refund(1), conversation=seen(refund(1))))
        helper = await call(refund(2), conversation=seen(refund(2), name="helper"))
        await world.release(key)
        done, told = await first, await again
    assert helper.state == "confirmed"
    assert told.state == "refused"
    assert done.text in told.text
    assert await effects(world, step_id) == 2


def seen(arguments, name=""):
    return Conversation(name=name, turn=(asked(arguments),))


@function_tool
def look() -> str:
    """Look something up."""
    return "nothing"


async def test_words_beside_a_call_are_no_answer_in_the_openai_agents_sdk(working, world, step_id):
    set_tracing_disabled(True)
    session = SQLiteSession(step_id)
    looks = [*openai.calls({}, tool="look"), assistant_message("let me look")]
    script = [openai.calls(REFUND), looks, AWAY, openai.calls(REFUND), openai.says()]
    async with working(tools.keyed) as surestep:
        agent, _ = openai.scripted(surestep, *script, beside=[look])
        with agent_run(step_id):
            with pytest.raises(RuntimeError, match="away"):
                await Runner.run(agent, "refund o-1", session=session)
            await Runner.run(agent, "refund o-1", session=session)
    assert await effects(world, step_id) == 1


class Summary(BaseModel):
    text: str


@pytest.mark.parametrize("output", [str, Summary], ids=["a text", "an output tool"])
async def test_an_answer_that_was_sent_back_is_none_in_pydantic_ai(working, world, step_id, output):
    answer = {
        str: pydantic.says("bad"),
        Summary: pydantic.calls({"text": "bad"}, tool="final_result"),
    }
    script = [pydantic.calls(REFUND), answer[output], AWAY, pydantic.calls(REFUND), answer[output]]
    async with working(tools.keyed) as surestep:
        agent, _ = pydantic.scripted(surestep, *script, output_type=output)
        checked = []

        @agent.output_validator
        def check(answer):
            checked.append(answer)
            if len(checked) == 1:
                raise ModelRetry("that is no answer")
            return answer

        with capture_run_messages() as messages, pytest.raises(RuntimeError, match="away"):
            await agent.run("refund o-1", conversation_id=step_id)
        await agent.run("refund o-1", message_history=messages)
    assert await effects(world, step_id) == 1


async def test_a_call_that_could_not_be_read_is_no_answer_in_langgraph(working, world, step_id):
    torn = AIMessage("", invalid_tool_calls=[{"name": "keyed", "args": "{", "id": "1"}])
    async with working(tools.keyed) as surestep:
        ours = surestep_tools(AgentTools(surestep, tools.keyed))
        script = [[("keyed", REFUND)], "", [("keyed", REFUND)], "done"]
        graph, run = graphs.written_by_hand(ours, script, None), graphs.thread(step_id)
        *kept, _ = (await graph.ainvoke(graphs.user(), run))["messages"]
        await graph.ainvoke({"messages": [*kept, torn, *graphs.user()["messages"]]}, run)
    assert await effects(world, step_id) == 1


async def test_an_answer_without_words_is_none_in_a_plain_loop(working, world, step_id):
    user = {"role": "user", "content": "refund it"}
    messages = [user, chat.calls(("keyed", REFUND))]
    async with working(tools.keyed) as surestep:
        ours = ChatTools(AgentTools(surestep, tools.keyed))
        for more in ([chat.says(""), user, chat.calls(("keyed", REFUND), first=2)], []):
            (result,) = await ours.results(messages, run=step_id)
            messages += [result.message, *more]
    assert await effects(world, step_id) == 1


async def test_tools_that_were_renamed_for_the_model_are_called_side_by_side_in_pydantic_ai(
    working, world, step_id
):
    both = [pydantic.calls(REFUND, tool=name).parts[0] for name in ("our_keyed", "our_lookup")]
    async with working(tools.keyed, tools.lookup) as surestep:
        ours = pydantic.SurestepToolset(AgentTools(surestep, tools.keyed, tools.lookup))
        script = [pydantic.ModelResponse(both), pydantic.says()]
        agent, _ = pydantic.scripted(surestep, *script, toolsets=[ours.prefixed("our")])
        result = await agent.run("refund o-1", conversation_id=step_id)
    assert "Nothing was sent" not in str(pydantic.outputs(result.all_messages()))
    assert await effects(world, step_id) == 2


async def test_a_turn_that_ends_beside_a_call_of_ours_is_over_in_pydantic_ai(
    working, world, step_id
):
    """What the user wants once more after that is done once more."""
    ends = [
        *pydantic.calls(refund(1)).parts,
        *pydantic.calls({"text": "done"}, tool="final_result").parts,
    ]
    ends = pydantic.ModelResponse(ends[::-1])
    script = [
        pydantic.calls(REFUND),
        ends,
        pydantic.calls(REFUND),
        pydantic.calls({"text": "done"}, tool="final_result"),
    ]
    async with working(tools.keyed) as surestep:
        agent, _ = pydantic.scripted(surestep, *script, output_type=Summary)
        first = await agent.run("refund o-1 and the other", conversation_id=step_id)
        await agent.run("o-1 once more", message_history=first.all_messages())
    assert await effects(world, step_id) == 3
