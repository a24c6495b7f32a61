"""A plain loop over an OpenAI-compatible HTTP API: the caller owns the messages, and keeps them.

    tools = ChatTools(AgentTools(surestep, refund))
    model = ChatModel("https://models.example.com/v1", "a-model", api_key=…)
    agent = ChatAgent(tools, model, save=write_them_down)
    end = await agent.run(messages, run="ticket-7781")

A loop of your own declares `tools.declared` to its model and appends the `message` of each of
`await tools.results(messages, run="ticket-7781")`.
"""

from collections.abc import Awaitable, Callable
from typing import Literal

from surestep.agents.chat_model import ChatModel, Message, ModelUnavailable
from surestep.agents.chat_tools import REMEDY, ChatTools, Result, latest, open_calls
from surestep.agents.reply import Reply
from surestep.agents.scope import scope_of
from surestep.value import Value

__all__ = ["ChatAgent", "ChatEnd", "ChatModel", "ChatTools", "ModelUnavailable", "Result"]

Save = Callable[[list[Message]], Awaitable[None]]


class ChatEnd(Value):
    """How a run ended.

    finish  done; parked: actions are not settled, run again later with the same messages;
            turns: the model still called tools after as many answers
    text    the model's last words; None: there are none
    parked  the replies of the actions that are waited for
    """

    finish: Literal["done", "parked", "turns"]
    text: str | None = None
    parked: tuple[Reply, ...] = ()


class ChatAgent:
    """A model and our tools.

    save   awaited with all messages after each change, before anything else is done. A run that
           was killed goes on from what was saved last
    park   an action that is not settled in time (`AgentTools(within=…)`) ends the run as parked,
           its call still open, instead of being told to the model
    turns  answers of the model in one run, at the most
    """

    def __init__(
        self,
        tools: ChatTools,
        model: ChatModel,
        *,
        save: Save | None = None,
        park: bool = False,
        turns: int = 50,
    ) -> None:
        self._tools = tools
        self._model = model
        self._save = save
        self._park = park
        self._turns = turns

    async def run(self, messages: list[Message], *, run: str) -> ChatEnd:
        """Let the model speak until it calls no more tools; `messages` is extended in place.

        run  the name under which you keep the messages: a ticket, a thread; the same after a
             restart. Calls without a result come first, which resumes what was parked or killed

        Raises InvalidArguments without a run, and ModelUnavailable; run again after either.
        """
        scope_of(run, REMEDY)
        for turn in range(self._turns + 1):
            parked = await self._perform(messages, run)
            if parked:
                return ChatEnd(finish="parked", parked=parked)
            if messages and messages[-1].get("role") == "assistant":
                return ChatEnd(finish="done", text=messages[-1].get("content"))
            if turn < self._turns:
                said = await self._model.next(messages, self._tools.declared)
                await self._keep(messages, len(messages), said)
        return ChatEnd(finish="turns")

    async def _perform(self, messages: list[Message], run: str) -> tuple[Reply, ...]:
        """Give every open call its result, but for those that are parked."""
        if not open_calls(messages):
            return ()
        parked = []
        for result in await self._tools.results(messages, run=run, foreign=True):
            if self._park and result.reply.is_pending:
                parked.append(result.reply)
            else:
                await self._keep(messages, _place(messages), result.message)
        return tuple(parked)

    async def _keep(self, messages: list[Message], at: int, message: Message) -> None:
        messages.insert(at, message)
        if self._save:
            await self._save(messages)


def _place(messages: list[Message]) -> int:
    """Behind the results of the model's latest message, also where the user has spoken since."""
    at = latest(messages) + 1
    while at < len(messages) and messages[at].get("role") == "tool":
        at += 1
    return at
