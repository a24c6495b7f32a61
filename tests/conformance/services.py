"""A small service over real HTTP that lies in ways in which the world does not."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from surestep.testing.listener import Listener
from surestep.testing.wire import Answer, Connection, Request


class Shop:
    """Keeps effects by key, and its key's promise as `lie` says.

    replays   other content under a known key is answered with the first effect
    performs  other content under a known key is performed as well
    rejects   what has no cents is answered 200 with an error in it
    hollow    everything is answered 200 with an error in it
    overlaps  a key that is still in work is not known yet
    contents  a known content is answered with its first effect, whatever the key
    """

    def __init__(self, lie: str) -> None:
        self.lie = lie
        self.effects: list[dict] = []
        self._in_work: dict[str, asyncio.Barrier] = {}
        self._listener = Listener(0, self._respond)

    @classmethod
    @asynccontextmanager
    async def start(cls, lie: str) -> AsyncIterator["Shop"]:
        shop = cls(lie)
        await shop._listener.open()
        try:
            yield shop
        finally:
            await shop._listener.end()

    @property
    def url(self) -> str:
        return self._listener.url

    def under(self, key: str) -> list[dict]:
        return [effect for effect in self.effects if effect["key"] == key]

    async def _respond(self, connection: Connection, request: Request) -> None:
        if request.method == "GET":
            wanted = request.query
            found = [e for e in self.effects if "key" not in wanted or e["key"] == wanted["key"]]
            answer = Answer.json(200, {"effects": found})
        else:
            key = request.headers["idempotency-key"]
            answer = await self._written(key, json.loads(request.body))
        await connection.send(answer)

    async def _written(self, key: str, body: dict) -> Answer:
        if self.lie == "hollow" or (self.lie == "rejects" and body["cents"] < 0):
            return Answer.json(200, {"id": None, "error": "insufficient funds"})
        known = self.under(key)
        if self.lie == "contents":
            known = [effect for effect in self.effects if effect["body"] == body]
        if known and self.lie != "replays" and known[0]["body"] != body:
            if self.lie != "performs":
                return Answer.problem(422, "key_mismatch", "the key was used with other content")
            known = []
        if self.lie == "overlaps":
            await self._company(key)
        if not known:
            known = [{"id": f"ef_{len(self.effects) + 1}", "key": key, "body": body}]
            self.effects += known
        return Answer.json(201, known[0])

    async def _company(self, key: str) -> None:
        """Returns when a second request under the key is in work, or none comes."""
        met = self._in_work.setdefault(key, asyncio.Barrier(2))
        with suppress(TimeoutError, asyncio.BrokenBarrierError):
            async with asyncio.timeout(0.5):
                await met.wait()
