"""The README's changes to an agent: five lines or fewer for each framework, and they work."""

import re

import pytest
from agents import Agent, Runner, SQLiteSession
from agents.testing import ScriptedModel
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from mcp import Client
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.models.function import FunctionModel

from tests.agents.chat import model as chat_script
from tests.agents.langgraph.scripted import Scripted
from tests.agents.openai_agents import script as openai_script
from tests.agents.pydantic_ai import script as pydantic_script
from tests.examples.test_agent_pages import CHARGE, shown  # noqa: F401
from tests.examples.test_snippets import ROOT, billing, run  # noqa: F401

DIFFS = re.findall(r"```diff\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def changed(mark):
    """The code after the change in which the mark stands."""
    diff = next(one for one in DIFFS if mark in one)
    return "\n".join(line[1:] for line in diff.splitlines() if not line.startswith("-"))


@pytest.mark.parametrize("diff", DIFFS)
def test_an_agent_is_changed_in_five_lines_or_fewer(diff):
    assert len([line for line in diff.splitlines() if line.startswith("+")]) <= 5


@pytest.fixture
def ticket(step_id):
    return step_id


async def charged(names, mark, ticket, shown, billing):  # noqa: F811
    common = {"charge": shown.charge, "ticket": ticket, "question": "charge o-1"}
    found = await run(changed(mark), **common, **names)
    return found, await billing.count(f"{ticket}/charge/1/*")


async def test_openai_agents(ticket, shown, billing):  # noqa: F811
    calls, says = openai_script.calls, openai_script.says
    model = ScriptedModel([calls(CHARGE, tool="charge"), says("done")])
    names = {"Agent": Agent, "Runner": Runner, "session": SQLiteSession(ticket), "model": model}
    found, count = await charged(names, "FunctionTools", ticket, shown, billing)
    assert (found["result"].final_output, count) == ("done", 1)


async def test_pydantic_ai(ticket, shown, billing):  # noqa: F811
    left = iter([pydantic_script.calls(CHARGE, tool="charge"), pydantic_script.says("done")])
    model = FunctionModel(lambda messages, info: next(left))
    names = {"Agent": PydanticAgent, "model": model, "history": []}
    found, count = await charged(names, "SurestepToolset", ticket, shown, billing)
    assert (found["result"].output, count) == ("done", 1)


async def test_langgraph(ticket, shown, billing):  # noqa: F811
    names = {"create_agent": create_agent, "checkpointer": InMemorySaver()}
    names["model"] = Scripted(script=[[("charge", CHARGE)], "done"])
    found, count = await charged(names, "surestep_tools", ticket, shown, billing)
    assert (found["state"]["messages"][-1].text, count) == ("done", 1)


async def test_mcp(ticket, shown, billing):  # noqa: F811
    code = changed("mcp_server") + (
        "\n    async with Client(server) as client:"
        "\n        reply = await client.call_tool('charge', given)"
    )
    names = {"charge": shown.charge, "ticket": ticket, "Client": Client, "given": CHARGE}
    found = await run(code, **names)
    assert found["reply"].meta["surestep/state"] == "confirmed"
    assert await billing.count(f"{ticket}/charge/1/*") == 1


async def test_a_plain_loop(ticket, shown, billing):  # noqa: F811
    async def ask_the_model(messages, tools):
        return chat_script.calls(("charge", CHARGE))

    messages = [{"role": "user", "content": "charge o-1"}]
    names = {"messages": messages, "ask_the_model": ask_the_model}
    _, count = await charged(names, "ChatTools", ticket, shown, billing)
    assert [one["role"] for one in messages] == ["user", "assistant", "tool"]
    assert count == 1
