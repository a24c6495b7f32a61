"""A service that repeats whatever it is told, in every place that an answer has."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl, quote, urlsplit

from surestep.testing.listener import Listener
from surestep.testing.wire import Answer, Connection, Request


class Echo:
    """The path says how it answers; `requests` are what it was told."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._listener = Listener(0, self._respond)

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncIterator["Echo"]:
        echo = cls()
        await echo._listener.open()
        try:
            yield echo
        finally:
            await echo._listener.end()

    @property
    def url(self) -> str:
        return self._listener.url

    def told(self, path: str) -> list[Request]:
        return [one for one in self.requests if urlsplit(one.target).path == path]

    async def _respond(self, connection: Connection, request: Request) -> None:
        self.requests.append(request)
        parts = urlsplit(request.target)
        query = dict(parse_qsl(parts.query))
        words = [
            request.headers.get("x-token", ""),
            request.headers.get("authorization", "").removeprefix("Bearer "),
            *query.values(),
            *(str(one) for one in _texts(request.body)),
        ]
        said = " ".join(words)
        problem = {
            "title": f"no {said}"[:400],
            "type": f"urn:{quote(said)}"[:400],
            "code": query.get("email", "x").replace("@", "."),
            "detail": said,
        }
        match parts.path.strip("/").split("/")[0]:
            case "answered":
                body = {"id": "E-1", "status": words[0], "said": said, "email": query.get("email")}
                answer = _json(201, body)
            case "accepted":
                answer = _json(202, {"status": "pending"})
                place = f"/operation?token={quote(words[0])}&email={quote(query['email'])}"
                answer = answer.with_header("Location", place)
            case "operation":
                answer = _json(200, {"status": "succeeded"})
            case "moved":
                answer = _json(307, problem).with_header("Location", f"/x?t={quote(said)}")
            case "v1":  # a collector of traces
                answer = Answer(200, b"")
            case "refused":
                answer = _json(422, problem)
            case _:
                answer = _json(500, problem)
        if said.isascii() and said.isprintable() and said.strip():
            answer = answer.with_header("X-Said", said.strip())
        await connection.send(answer)


def _json(status: int, body: object) -> Answer:
    return Answer(
        status, json.dumps(body).encode(), (("Content-Type", "application/problem+json"),)
    )


def _texts(body: bytes) -> list[object]:
    try:
        given = json.loads(body)
    except ValueError:
        return []
    return list(given.values()) if isinstance(given, dict) else []
