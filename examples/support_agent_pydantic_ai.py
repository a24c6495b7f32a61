"""A support agent in Pydantic AI refunds, then writes to the customer; with Surestep and without.

Both services do what they are asked and lose their first answer. The agent without Surestep reads
an error and tries again: the customer is paid twice, and told twice. With Surestep the lost answer
is looked up while the agent waits, and so the mail goes out when the refund is certain, once.

    python examples/support_agent_pydantic_ai.py [ticket]   a second run of a ticket sends nothing
"""

import asyncio
import sys

from pydantic_ai import Agent, FunctionToolset
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import AbstractToolset
from support_desk import WISH, compare, next_call, unguarded

from surestep.agents import AgentTools
from surestep.agents.pydantic_ai import SurestepToolset

plain = FunctionToolset[None]()


@plain.tool_plain
async def refund(order: str, cents: int) -> str:
    """Pay money back for an order."""
    return await unguarded("refund", {"order": order, "cents": cents})


@plain.tool_plain
async def mail(customer: str, text: str) -> str:
    """Write to a customer."""
    return await unguarded("mail", {"customer": customer, "text": text})


async def answer(tools: AbstractToolset[None], ticket: str) -> str:
    """The agent, which is the same with both kinds of tools."""
    agent = Agent(FunctionModel(helpful), toolsets=[tools])
    return (await agent.run(WISH, conversation_id=ticket)).output


def helpful(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Stands in for a model, so that the example needs no key."""
    parts = [part for message in messages for part in message.parts]
    results = [
        (part.tool_name, part.model_response_str())
        for part in parts
        if isinstance(part, ToolReturnPart)
    ]
    call = next_call(results)
    return ModelResponse([ToolCallPart(*call) if call else TextPart("Refunded, and told.")])


async def main(ticket: str) -> None:
    async def without() -> str:
        return await answer(plain, ticket)

    async def with_surestep(tools: AgentTools) -> str:
        return await answer(SurestepToolset(tools), ticket)

    await compare(ticket, without, with_surestep)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:] or ["ticket-18"]))
