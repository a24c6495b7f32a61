"""A scripted model behind a real HTTP server that speaks the chat completions API."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from surestep.agents.chat import ChatModel
from surestep.testing.listener import Listener
from surestep.testing.wire import Answer, Connection, Request

DROP = "drop the connection"


def says(text):
    return {"role": "assistant", "content": text}


def calls(*asked, first=1):
    """A message that calls tools: pairs of name and arguments, with ids counted from `first`."""
    made = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for number, (name, given) in enumerate(asked, start=first)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


class Script:
    """What the model will say, one message after the other, and what it was asked."""

    def __init__(self, url, lines):
        self.url = url
        self.lines = lines
        self.asked = []

    def model(self, **how):
        return ChatModel(f"{self.url}/v1", "scripted", **how)

    @property
    def told(self):
        """The results that stood in the latest request."""
        return [one["content"] for one in self.asked[-1]["messages"] if one["role"] == "tool"]


@asynccontextmanager
async def scripted(*lines) -> AsyncIterator[Script]:
    """Lines are messages, whole answers, or DROP; the last one is repeated for ever."""

    async def respond(connection: Connection, request: Request) -> None:
        assert request.target == "/v1/chat/completions", request.target
        script.asked.append(json.loads(request.body))
        line = script.lines.pop(0) if len(script.lines) > 1 else script.lines[0]
        if line == DROP:
            connection.reset()
        elif isinstance(line, Answer):
            await connection.send(line)
        else:
            await connection.send(Answer.json(200, {"choices": [{"index": 0, "message": line}]}))

    listener = Listener(0, respond)
    await listener.open()
    script = Script(listener.url, list(lines))
    try:
        yield script
    finally:
        await asyncio.shield(listener.end())
