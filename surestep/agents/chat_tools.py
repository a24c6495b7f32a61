"""Our tools for a loop over chat messages: what is declared, and the results of the calls."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Final

from surestep.agents.agent_tools import AgentTools
from surestep.agents.chat_model import Message
from surestep.agents.conversation import Asked, Conversation
from surestep.agents.declaration import description, schema
from surestep.agents.reply import Reply, refused
from surestep.agents.scope import scope_of
from surestep.agents.transcript import Transcript

REMEDY: Final = "pass run=, the name under which you keep the messages"


@dataclass(frozen=True)
class Result:
    """The reply to one call, and the message that tells it to the model."""

    message: Message
    reply: Reply


class ChatTools:
    """Tools for `ChatAgent`, or for a loop of one's own.

    name  of the conversation, where a sub-agent of the run has messages of its own
    """

    def __init__(self, agent: AgentTools, *, name: str = "") -> None:
        self._agent = agent
        self._name = name
        self._names = frozenset(tool.name for tool in agent)

    @property
    def declared(self) -> list[dict[str, Any]]:
        """For the field `tools` of a request."""
        return [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": description(tool),
                    "parameters": schema(tool),
                },
            }
            for tool in self._agent
        ]

    async def results(
        self, messages: list[Message], *, run: str, foreign: bool = False
    ) -> list[Result]:
        """Perform the calls of the model's latest message that have no result, all at once.

        run      the name under which the messages are kept
        foreign  also answer calls of tools that are not ours: there is no such tool

        What is wrong with a call is its result. Raises InvalidArguments without a run.
        """
        scope_of(run, REMEDY)
        calls = [
            call for call in open_calls(messages) if foreign or _function(call)[0] in self._names
        ]
        seen = self._conversation(messages)
        replies = await asyncio.gather(*(self._reply(call, seen, run) for call in calls))
        return [
            Result({"role": "tool", "tool_call_id": call.get("id"), "content": reply.text}, reply)
            for call, reply in zip(calls, replies, strict=True)
        ]

    async def _reply(self, call: dict[str, Any], seen: Conversation, run: str) -> Reply:
        name, arguments = _function(call)
        if not isinstance(arguments, dict):
            return refused("The arguments are not a whole JSON object.")
        return await self._agent.call(name, arguments, run=run, conversation=seen, remedy=REMEDY)

    def _conversation(self, messages: list[Message]) -> Conversation:
        said, ours = Transcript(), set[Any]()
        for at, one in enumerate(messages):
            match one.get("role"):
                case "user":
                    said.asked()
                case "assistant":
                    calls = _made(messages, at)
                    said.answered(at_last=not calls and _has_words(one))
                    # Only of this message: a provider may give an id again in a later one.
                    ours = {call.get("id") for call in calls if _function(call)[0] in self._names}
                case "tool" if one.get("tool_call_id") in ours:
                    said.told(str(one.get("content")))
        turn = (_function(call) for call in _made(messages, latest(messages)))
        return said.conversation(
            *(Asked(tool=name, arguments=arguments) for name, arguments in turn), name=self._name
        )


def latest(messages: list[Message]) -> int:
    """Where the model's latest message stands; -1: it has said nothing."""
    return max(
        (at for at, one in enumerate(messages) if one.get("role") == "assistant"), default=-1
    )


def open_calls(messages: list[Message]) -> list[dict[str, Any]]:
    """The calls of the model's latest message that have no result yet."""
    at = latest(messages)
    answered = {one.get("tool_call_id") for one in messages[at + 1 :] if one.get("role") == "tool"}
    return [call for call in _made(messages, at) if call.get("id") not in answered]


def _has_words(message: Message) -> bool:
    return bool(message.get("content") or message.get("refusal"))


def _made(messages: list[Message], at: int) -> list[dict[str, Any]]:
    return (messages[at].get("tool_calls") or []) if at >= 0 else []


def _function(call: dict[str, Any]) -> tuple[str, Any]:
    """Name and arguments; the text itself where it is no JSON."""
    function = call.get("function") or {}
    text = function.get("arguments") or "{}"
    try:
        return str(function.get("name")), json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return str(function.get("name")), text
