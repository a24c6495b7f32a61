"""A support agent in LangGraph refunds, and then writes to the customer; with Surestep and without.

Both services do what they are asked and lose their first answer. The agent without Surestep reads
an error and tries again: the customer is paid twice, and told twice. With Surestep the lost answer
is looked up while the agent waits, and so the mail goes out when the refund is certain, once.

    python examples/support_agent_langgraph.py [ticket]   a second run of a ticket sends nothing
"""

import asyncio
import sys
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from support_desk import WISH, compare, next_call, unguarded

from surestep.agents import AgentTools
from surestep.agents.langgraph import surestep_tools


@tool
async def refund(order: str, cents: int) -> str:
    """Pay money back for an order."""
    return await unguarded("refund", {"order": order, "cents": cents})


@tool
async def mail(customer: str, text: str) -> str:
    """Write to a customer."""
    return await unguarded("mail", {"customer": customer, "text": text})


async def answer(tools: Sequence[BaseTool], ticket: str) -> str:
    """The agent, which is the same with both kinds of tools."""
    agent = create_agent(Helpful(), tools, checkpointer=InMemorySaver())
    state = await agent.ainvoke(
        {"messages": [HumanMessage(WISH)]}, {"configurable": {"thread_id": ticket}}
    )
    return str(state["messages"][-1].text)


class Helpful(BaseChatModel):
    """Stands in for a model, so that the example needs no key."""

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        results = [(str(one.name), one.text) for one in messages if isinstance(one, ToolMessage)]
        call = next_call(results)
        made = [{"name": call[0], "args": call[1], "id": f"call-{uuid4()}"}] if call else []
        said = AIMessage("" if call else "Refunded, and told.", tool_calls=made)
        return ChatResult(generations=[ChatGeneration(message=said)])

    @property
    def _llm_type(self) -> str:
        return "helpful"


async def main(ticket: str) -> None:
    async def without() -> str:
        return await answer([refund, mail], ticket)

    async def with_surestep(tools: AgentTools) -> str:
        return await answer(surestep_tools(tools), ticket)

    await compare(ticket, without, with_surestep)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:] or ["ticket-17"]))
