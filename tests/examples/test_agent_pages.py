"""The pages about agent frameworks: their snippets, run as they are shown."""

import os
import sys
from datetime import timedelta
from types import ModuleType

import pytest
from agents import Runner, RunState, set_tracing_disabled
from agents.testing import ScriptedModel
from langgraph.checkpoint.memory import InMemorySaver
from mcp import Client
from mcp.server import MCPServer
from pydantic_ai.conversation import ConversationTypeAdapter
from pydantic_ai.models.function import FunctionModel

from surestep import State
from surestep.agents import AgentTools, Claim, agent_run
from tests.agents.chat import model as chat_script
from tests.agents.langgraph.scripted import Scripted
from tests.agents.mcp.serving import over_http
from tests.agents.openai_agents import script as openai_script
from tests.agents.pydantic_ai import script as pydantic_script
from tests.agents.pydantic_ai.child import parking
from tests.examples.test_snippets import KEYED, LIMIT, billing, run, snippet  # noqa: F401
from tests.steps import facts, tools

OPENAI, PYDANTIC, LANGGRAPH, CHAT, MCP, TEMPORAL = (
    f"docs/agents/{name}.md"
    for name in ("openai-agents", "pydantic-ai", "langgraph", "chat", "mcp", "temporal")
)
SHORT = timedelta(milliseconds=300)
CHARGE = {"order": "o-1", "cents": 2500}


@pytest.fixture
async def shown(working, billing, temporal_address, monkeypatch, tmp_path):  # noqa: F811
    """Where snippets run: acme's tools, a worker, and a server that is connected to."""
    charge = (await run(snippet("README.md", KEYED)))["charge"]
    acme = ModuleType("acme.tools")
    acme.charge = charge
    monkeypatch.setitem(sys.modules, "acme", ModuleType("acme"))
    monkeypatch.setitem(sys.modules, "acme.tools", acme)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORLD_URL", billing.url)
    set_tracing_disabled(True)
    async with working(charge, tools.blind) as surestep:
        monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_address)
        monkeypatch.setenv("SURESTEP_TASK_QUEUE", surestep.task_queue)
        surestep.charge = charge
        yield surestep


async def parked_at_the_blind_service(world, run_name):
    await world.fault(f"{run_name}/blind/*", write=["reply_lost"])


async def confirmed(surestep, step):
    await facts.parked(surestep, step)
    await surestep.decide(step, "confirm", by="ann", version=(await version(surestep, step)))
    await surestep.handle(step).outcome()


async def version(surestep, step):
    (record,) = await surestep.handle(step).records()
    return record.version


async def test_the_openai_agents_snippets_work_as_they_are_shown(shown, billing):  # noqa: F811
    calls, says = openai_script.calls, openai_script.says
    model = ScriptedModel([calls(CHARGE, tool="charge"), says("done")])
    found = await run(snippet(OPENAI, "hooks=ours"), model=model, question="charge o-1")
    assert found["result"].final_output == "done"
    assert await billing.count("ticket-7782/charge/1/*") == 1

    await parked_at_the_blind_service(billing, "ticket-7782")
    script = [calls(CHARGE, tool="blind"), says("done")]
    agent, ours = openai_script.scripted(shown, *script, tool=tools.blind, within=SHORT, park=True)
    with agent_run("ticket-7782"):
        parked = await Runner.run(agent, "charge o-1")
    await confirmed(shown, "ticket-7782/blind/1")
    names = {"agent": agent, "ours": ours, "stored": parked.to_state().to_json()}
    names |= {"RunState": RunState, "Runner": Runner, "agent_run": agent_run}
    found = await run(snippet(OPENAI, "ours.settle"), **names)
    assert found["result"].final_output == "done"


async def test_the_pydantic_ai_snippets_work_as_they_are_shown(shown, billing):  # noqa: F811
    calls, says = pydantic_script.calls, pydantic_script.says
    left = iter([calls(CHARGE, tool="charge"), says("done")])
    model = FunctionModel(lambda messages, info: next(left))
    names = {"model": model, "question": "charge o-1", "history": []}
    found = await run(snippet(PYDANTIC, "toolsets=[SurestepToolset"), **names)
    assert found["result"].output == "done"
    assert await billing.count("ticket-7783/charge/1/*") == 1

    await parked_at_the_blind_service(billing, "ticket-7783")
    script = [calls(CHARGE, tool="blind"), says("done")]
    agent, toolset = pydantic_script.scripted(shown, *script, **parking)
    parked = await agent.run("charge o-1", conversation_id="ticket-7783")
    await confirmed(shown, "ticket-7783/blind/1")
    names = {"agent": agent, "toolset": toolset}
    names |= {"stored": ConversationTypeAdapter.dump_json(parked.conversation)}
    names |= {"ConversationTypeAdapter": ConversationTypeAdapter}
    found = await run(snippet(PYDANTIC, "toolset.results"), **names)
    assert found["result"].output == "done"


async def test_a_langgraph_agent_works_and_parks_as_it_is_shown(shown, billing):  # noqa: F811
    calls = [("charge", CHARGE)]
    names = {
        "model": Scripted(script=[calls, "done", calls, "done"]),
        "refund": shown.charge,
        "checkpointer": InMemorySaver(),
        "surestep": shown,
    }
    found = await run(snippet(LANGGRAPH, "create_agent(model"), **names)
    assert found["state"]["messages"][-1].text == "done"
    found = await run(snippet(LANGGRAPH, "park=True"), **names | found)
    assert found["state"]["messages"][-1].text == "done"
    assert await billing.count("ticket-4711/*") == 2


async def test_a_plain_loop_works_as_it_is_shown(shown, billing, monkeypatch):  # noqa: F811
    call, kept = ("charge", CHARGE), []

    async def save(messages):
        kept.append(len(messages))

    async def ask_the_model(messages, tools):
        return chat_script.calls(call)

    async with chat_script.scripted(chat_script.calls(call), chat_script.says("done")) as script:
        monkeypatch.setenv("MODEL_URL", f"{script.url}/v1")
        monkeypatch.setenv("MODEL_KEY", "t")
        names = {"surestep": shown, "refund": shown.charge, "save": save, "os": os}
        found = await run(snippet(CHAT, "ChatAgent("), **names)
        assert found["end"].text == "done"
        messages = [{"role": "user", "content": "Order 7781 arrived broken."}]
        names |= {"tools": found["tools"], "ask_the_model": ask_the_model, "my_tools": []}
        await run(snippet(CHAT, "tools.results("), **names, messages=messages)
    assert [one["role"] for one in messages] == ["user", "assistant", "tool"]
    assert kept == [2, 3, 4, 2, 3]
    assert await billing.count("ticket-4713/*") == 1


async def test_tools_are_served_over_mcp_as_it_is_shown(shown, billing):  # noqa: F811
    names = {"surestep": shown, "refund": shown.charge}
    found = await run(snippet(MCP, "mcp_server("), **names)
    async with Client(found["server"]) as client:
        reply = await client.call_tool("charge", CHARGE, meta={"surestep/run": "ticket-4712"})
    assert reply.meta["surestep/state"] == "confirmed"
    assert await billing.count("ticket-4712/*") == 1


async def test_a_tool_of_an_mcp_server_is_wrapped_as_it_is_shown(working, step_id, monkeypatch):
    theirs, keys = MCPServer("billing"), []

    @theirs.tool()
    async def refund(order: str, cents: int, idempotency_key: str) -> str:
        keys.append(idempotency_key)
        return "refunded"

    async with over_http(theirs) as url:
        monkeypatch.setenv("BILLING_MCP", url)
        ours = (await run(snippet(MCP, "mcp_tool("), os=os, token=lambda: "t"))["refund"]
        async with working(ours) as surestep:
            outcome = await surestep.run(step_id, ours(order="7781", cents=2500), within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert keys == [f"{step_id}/refund"]


async def test_recall_and_the_final_word_work_as_they_are_shown(shown, billing):  # noqa: F811
    asked = []

    async def model(question):
        asked.append(question)
        return 2500

    names = {"surestep": shown, "charge": shown.charge, "model": model}
    for _ in range(2):
        found = await run(snippet(TEMPORAL, "await decided("), **names)
        assert found["outcome"].state is State.CONFIRMED
    assert len(asked) == 1

    agent_tools = AgentTools(shown, shown.charge)
    await agent_tools.call("charge", CHARGE, run="thread-7")
    claims = [Claim(became="done", step_id="thread-7/charge/1")]
    names = {"surestep": shown, "agent_tools": agent_tools, "claims": claims}
    found = await run(snippet(TEMPORAL, "check(ClosingStatement"), **names)
    assert found["checked"].judgement == "right"
