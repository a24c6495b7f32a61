"""The judge's side of the world: the same calls in process and over HTTP, under `/_world/`."""

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from pydantic import JsonValue

from surestep.testing.faults import BadFault
from surestep.testing.ledger import EffectRow, RequestRow
from surestep.testing.listener import Listener
from surestep.testing.wire import Answer, Connection, Request


class Control(ABC):
    """What a test, a demo or a person may ask of a world, wherever it runs.

    A key that ends in `*` means every key with that prefix; None means everything.
    """

    @property
    @abstractmethod
    def url(self) -> str:
        """Where the services are: `{url}/{service}/effects`; no slash at the end."""

    @abstractmethod
    async def effects(self, key: str | None = None) -> list[EffectRow]:
        """What was really applied, oldest first, at once and whatever the service's lag."""

    @abstractmethod
    async def requests(self, key: str | None = None) -> list[RequestRow]:
        """What was received, oldest first: writes, lookups and fences, applied or not."""

    @abstractmethod
    async def fault(
        self,
        key: str,
        *,
        write: Iterable[str] | None = None,
        lookup: Iterable[str] | None = None,
    ) -> None:
        """Replaces the faults that wait for a key; each request takes one, in order.

        None leaves that kind of fault as it was, an empty list ends it. Raises BadFault.
        """

    @abstractmethod
    async def forget(self, key: str) -> None:
        """Ends the lifetime of a key in every service that remembers it."""

    @abstractmethod
    async def release(self, key: str = "*") -> None:
        """Lets the answers go that `expect_kill` holds."""

    @abstractmethod
    async def stop_listening(self) -> None:
        """From now on connections are refused; requests in work are still answered."""

    @abstractmethod
    async def listen_again(self) -> None:
        """Accepts connections again, on the same port."""

    async def count(self, key: str | None = None) -> int:
        """How many effects were applied; one that was voided later was applied all the same."""
        return len(await self.effects(key))

    @asynccontextmanager
    async def outage(self) -> AsyncIterator[None]:
        """Connections are refused within the block."""
        await self.stop_listening()
        try:
            yield
        finally:
            await self.listen_again()


class ControlDoor:
    """Answers `/_world/…` by calling the world."""

    def __init__(self, world: Control, own: Listener) -> None:
        self._world = world
        self._own = own

    async def respond(self, connection: Connection, request: Request) -> None:
        try:
            answer = await self._answer(request)
        except BadFault as error:
            answer = Answer.problem(400, "bad_fault", str(error))
        except (ValueError, KeyError, TypeError) as error:
            answer = Answer.problem(400, "bad_call", f"{type(error).__name__}: {error}")
        await connection.send(answer)

    async def _answer(self, request: Request) -> Answer:
        key = request.query.get("key")
        given: dict[str, Any] = json.loads(request.body) if request.body else {}
        match (request.method, request.segments):
            case "GET", ["_world", "ready"]:
                return Answer.json(200, {"url": self._world.url, "control": self._own.url})
            case "GET", ["_world", "effects"]:
                effects = await self._world.effects(key)
                return Answer.json(200, {"effects": [_dumped(row) for row in effects]})
            case "GET", ["_world", "requests"]:
                seen = await self._world.requests(key)
                return Answer.json(200, {"requests": [_dumped(row) for row in seen]})
            case "PUT", ["_world", "faults"]:
                await self._world.fault(
                    given["key"], write=given.get("write"), lookup=given.get("lookup")
                )
            case "POST", ["_world", "forget"]:
                await self._world.forget(given["key"])
            case "POST", ["_world", "release"]:
                await self._world.release(given.get("key", "*"))
            case "POST", ["_world", "outage"]:
                await (self._world.stop_listening if given["on"] else self._world.listen_again)()
            case _:
                detail = f"no control call is {request.method} {request.target}"
                return Answer.problem(404, "no_such_place", detail)
        return Answer.json(200, {"done": True})


def _dumped(row: EffectRow | RequestRow) -> JsonValue:
    return row.model_dump(mode="json")
