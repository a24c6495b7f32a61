"""A model that speaks by a script, and the graphs that it drives."""

from typing import Any
from uuid import uuid4

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

REFUND = {"order": "o-1", "cents": 2500}
OTHER = {"order": "o-1", "cents": 2400}


class Scripted(BaseChatModel):
    """Says the line that follows what the conversation has already; each call has a new id.

    A line is a text, or a list of calls: tool and arguments. `call_id`: all calls have this one.
    """

    script: list[Any]
    call_id: str | None = None

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **_):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        said = sum(isinstance(one, AIMessage) for one in messages)
        line = self.script[said]
        if isinstance(line, str):
            message = AIMessage(line)
        else:
            calls = [
                {"name": name, "args": args, "id": self.call_id or f"c-{uuid4()}"}
                for name, args in line
            ]
            message = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


def agent(tools, script, checkpoints, **more):
    """LangChain's agent: each call of a turn is a task of its own."""
    return create_agent(Scripted(script=script), tools, checkpointer=checkpoints, **more)


def written_by_hand(tools, script, checkpoints, **more):
    """A graph of two nodes: all calls of a turn are one task."""
    model, graph = Scripted(script=script), StateGraph(MessagesState)

    async def think(state):
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph.add_node("model", think)
    graph.add_node("tools", ToolNode(tools, **more))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(checkpointer=checkpoints)


def thread(run):
    return {"configurable": {"thread_id": run}}


def user(text="refund it", **more):
    return {"messages": [{"role": "user", "content": text, **more}]}


def results(state):
    """The tool results of a conversation."""
    return [one for one in state["messages"] if one.type == "tool"]
