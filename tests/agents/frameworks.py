"""One turn of an agent with a scripted model, through each framework that there is an adapter for.

A script is a list of lines: what the model says, a list of its calls (tool and arguments), or an
error that its provider raises. Each call has an id that was never used.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agents import Agent, Runner
from agents.testing import ScriptedModel
from pydantic_ai.messages import ModelResponse

from surestep.agents import AgentTools, FunctionTools, SurestepToolset, agent_run, surestep_tools
from surestep.agents.chat import ChatAgent, ChatTools
from surestep.testing.wire import Answer
from tests.agents.chat import model as chat_model
from tests.agents.langgraph import scripted as graphs
from tests.agents.openai_agents import script as openai
from tests.agents.pydantic_ai import script as pydantic

Call = tuple[str, dict[str, Any]]
Line = str | list[Call] | Exception

WORDS = "refund it"


async def openai_agents(tools: AgentTools, run: str, script: Sequence[Line]) -> list[str]:
    steps = [_line(line, openai.says, _items) for line in script]
    ours = FunctionTools(tools)
    agent = Agent(name="Support", model=ScriptedModel(steps), tools=ours.tools, hooks=ours)
    with agent_run(run):
        result = await Runner.run(agent, WORDS, max_turns=len(script) + 1)
    return openai.outputs(result.to_input_list())


async def pydantic_ai(tools: AgentTools, run: str, script: Sequence[Line]) -> list[str]:
    steps = [_line(line, pydantic.says, _parts) for line in script]
    agent, _ = pydantic.scripted(None, *steps, toolsets=[SurestepToolset(tools)])
    result = await agent.run(WORDS, conversation_id=run)
    return pydantic.outputs(result.all_messages())


async def langgraph(tools: AgentTools, run: str, script: Sequence[Line]) -> list[str]:
    graph = graphs.agent(surestep_tools(tools), script, None)
    config = graphs.thread(run) | {"recursion_limit": 3 * len(script) + 3}
    return [one.text for one in graphs.results(await graph.ainvoke(graphs.user(WORDS), config))]


async def plain_loop(tools: AgentTools, run: str, script: Sequence[Line]) -> list[str]:
    away = Answer.text(400, "the model is away")
    lines = [
        away if isinstance(line, Exception) else _line(line, chat_model.says, chat_model.calls)
        for line in script
    ]
    messages = [{"role": "user", "content": WORDS}]
    async with chat_model.scripted(*lines) as model:
        await ChatAgent(ChatTools(tools), model.model()).run(messages, run=run)
    return [one["content"] for one in messages if one["role"] == "tool"]


def _items(*asked: Call) -> list[Any]:
    return [item for tool, given in asked for item in openai.calls(given, tool=tool)]


def _parts(*asked: Call) -> ModelResponse:
    said = [pydantic.calls(given, tool=tool) for tool, given in asked]
    return ModelResponse([part for one in said for part in one.parts])


def _line(line: Line, says: Callable[..., Any], calls: Callable[..., Any]) -> Any:
    if isinstance(line, Exception):
        return line
    return says(line) if isinstance(line, str) else calls(*line)


Turn = Callable[[AgentTools, str, Sequence[Line]], Awaitable[list[str]]]

FRAMEWORKS: dict[str, Turn] = {
    one.__name__: one for one in (openai_agents, pydantic_ai, langgraph, plain_loop)
}
