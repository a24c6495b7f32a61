"""What each end of a call over HTTP proves, against a server that ends it in every way."""

import json
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from mcp import StdioServerParameters

from surestep import Ambiguous, NotSent, Refused
from surestep.agents.mcp_call import HttpServer, called, listed
from surestep.testing.listener import Listener
from surestep.testing.wire import Answer
from tests.http.servers import closed_port

LIMIT = timedelta(seconds=20)
TOOL = {"name": "pay", "inputSchema": {"type": "object"}}
DROP, GONE = "drops the connection", "is gone before the call"
OK = {"content": [{"type": "text", "text": "paid"}]}


def error(code, status=200):
    return status, {"error": {"code": code, "message": "no"}}


@asynccontextmanager
async def ending(end):
    """A server of the handshake era that lists one tool, and ends its call like this."""
    calls = []

    async def respond(connection, request):
        asked = json.loads(request.body) if request.body else {}
        match asked.get("method"):
            case "initialize":
                found = {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "s", "version": "1"},
                }
                await connection.send(answer(asked, 200, {"result": found}))
            case "tools/list":
                if end == GONE:
                    await listener.close()
                await connection.send(answer(asked, 200, {"result": {"tools": [TOOL]}}))
            case "tools/call":
                calls.append(asked)
                if end == DROP:
                    connection.reset()
                elif isinstance(end, Answer):
                    await connection.send(end)
                else:
                    await connection.send(answer(asked, *end))
            case "server/discover":
                await connection.send(answer(asked, *error(-32601, 404)))
            case None:
                await connection.send(Answer.text(405, "no stream"))
            case _:
                await connection.send(Answer(202, b""))

    listener = Listener(0, respond)
    await listener.open()
    try:
        yield HttpServer(f"{listener.url}/mcp", lambda: {"Authorization": "Bearer t"}), calls
    finally:
        await listener.end()


def answer(asked, status, said):
    return Answer.json(status, {"jsonrpc": "2.0", "id": asked["id"], **said})


@pytest.mark.parametrize(
    ("end", "proven", "handed"),
    [
        ((200, {"result": OK}), None, 1),
        (GONE, NotSent, 0),
        (DROP, Ambiguous, 1),
        (error(-32601), Refused, 1),
        (error(-32602), Ambiguous, 1),  # SDKs make it of a tool's own validation errors as well
        (error(-32602, 400), Ambiguous, 1),
        (error(-32603), Ambiguous, 1),
        (error(-32000), Ambiguous, 1),
        (Answer.text(403, "no"), Refused, 1),
        (Answer.json(401, {"error": "who are you?"}), Refused, 1),
        (Answer.text(429, "later"), Refused, 1),
        (Answer.text(500, "oops"), Ambiguous, 1),
        (Answer.text(503, "oops"), Ambiguous, 1),
        (Answer.text(200, "<html>", "text/html"), Ambiguous, 1),
        (Answer(200, b"{", (("Content-Type", "application/json"),)), Ambiguous, 1),
        (Answer(202, b""), Ambiguous, 1),
        (Answer(307, b"", (("Location", "/mcp"),)), Ambiguous, 1),  # what it asks for is not done
        (Answer(303, b"", (("Location", "/elsewhere"),)), Ambiguous, 1),
    ],
)
async def test_an_end_proves_what_it_proves(end, proven, handed):
    async with ending(end) as (place, calls):
        if proven is None:
            assert (await called(place, "pay", {}, within=LIMIT)).content[0].text == "paid"
        else:
            with pytest.raises(proven):
                await called(place, "pay", {}, within=LIMIT)
    assert len(calls) == handed


async def test_a_server_that_is_busy_says_when_to_come_again():
    busy = Answer(429, b"later", (("Retry-After", "7"), ("Content-Type", "text/plain")))
    async with ending(busy) as (place, _):
        with pytest.raises(Refused) as refused:
            await called(place, "pay", {}, within=LIMIT)
    assert (refused.value.again, refused.value.retry_after) == (True, timedelta(seconds=7))


async def test_the_key_travels_beside_the_arguments():
    async with ending((200, {"result": OK})) as (place, calls):
        await called(place, "pay", {"cents": 1}, within=LIMIT, meta={"surestep/run": "r/1"})
    assert calls[0]["params"]["arguments"] == {"cents": 1}
    assert calls[0]["params"]["_meta"]["surestep/run"] == "r/1"


async def test_a_tool_that_the_server_does_not_list_is_refused_before_anything_is_sent():
    async with ending((200, {"result": OK})) as (place, calls):
        with pytest.raises(Refused, match="no tool 'unheard'"):
            await called(place, "unheard", {}, within=LIMIT)
    assert calls == []


@pytest.mark.parametrize("place", ["http", "process", "leaves"])
async def test_a_server_that_cannot_be_reached_was_sent_nothing(place):
    places = {
        "http": HttpServer(f"http://127.0.0.1:{closed_port()}/mcp"),
        "process": StdioServerParameters(command="surestep-no-such-command"),
        "leaves": StdioServerParameters(command="true"),
    }
    with pytest.raises(NotSent):
        await called(places[place], "pay", {}, within=LIMIT)
    with pytest.raises(NotSent):
        await listed(places[place], within=LIMIT)
