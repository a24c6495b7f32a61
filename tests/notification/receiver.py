"""A real HTTP receiver that keeps what it is told, and misbehaves by path."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from surestep.testing.listener import Listener
from surestep.testing.wire import Answer, Connection, Request


class Receiver:
    """`fates[path]` is a list; each request takes the next one: a status, `hold` or `redirect`.

    What is held gets its answer at `release`.
    """

    def __init__(self) -> None:
        self.fates: dict[str, list[str]] = {}
        self.released = asyncio.Event()
        self._requests: list[Request] = []
        self._listener = Listener(0, self._respond)

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncIterator["Receiver"]:
        receiver = cls()
        await receiver._listener.open()
        try:
            yield receiver
        finally:
            await receiver._listener.end()

    def url(self, path: str = "/hook", credentials: str = "") -> str:
        return f"http://{credentials}{self._listener.url.removeprefix('http://')}{path}"

    def requests(self, path: str = "/hook") -> list[Request]:
        return [request for request in self._requests if request.target == path]

    def messages(self, path: str = "/hook") -> list[dict[str, Any]]:
        return [json.loads(request.body) for request in self.requests(path)]

    def ids(self, path: str = "/hook") -> list[str]:
        return [request.headers["surestep-message-id"] for request in self.requests(path)]

    async def _respond(self, connection: Connection, request: Request) -> None:
        self._requests.append(request)
        fates = self.fates.get(request.target, [])
        match fates.pop(0) if fates else "200":
            case "hold":
                await self.released.wait()
                await connection.send(Answer.text(200, "ok"))
            case "redirect":
                answer = Answer.text(302, "elsewhere").with_header("Location", "/elsewhere")
                await connection.send(answer)
            case status:
                await connection.send(Answer.text(int(status), "whatever"))
