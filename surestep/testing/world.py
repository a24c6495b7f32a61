"""The world that misbehaves: services over real HTTP, with a ledger, and faults by name.

In process: `async with World.start(folder=tmp_path) as world: ...`. As a process of its own:
`python -m surestep.testing --folder DIR`, and `RemoteWorld` to talk to it.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from surestep.testing.billing import Billing
from surestep.testing.clock import Clock
from surestep.testing.control import Control, ControlDoor
from surestep.testing.ledger import EffectRow, Ledger, RequestRow
from surestep.testing.listener import HOST, Listener
from surestep.testing.script import Script
from surestep.testing.service import READY_MADE, Service
from surestep.testing.wire import Connection, Request


class World(Control):
    """A running world in this process and on its event loop; made by `start`."""

    def __init__(
        self, folder: Path, services: Iterable[Service], host: str, port: int, clock: Clock
    ) -> None:
        self._script = Script()
        self._ledger = Ledger(folder, clock)
        self._billing = Billing(self._ledger, self._script, services, clock)
        # The judge has a port of its own, to stay within reach during an outage.
        self._front = Listener(port, self._respond, host)
        self._back = Listener(0, self._respond)
        self._door = ControlDoor(self, self._back)

    @classmethod
    @asynccontextmanager
    async def start(
        cls,
        *,
        folder: Path,
        services: Iterable[Service] = READY_MADE.values(),
        host: str = HOST,
        port: int = 0,
        clock: Clock | None = None,
    ) -> AsyncIterator["World"]:
        """A world whose ledger is in `folder`, which is made where it is missing.

        A ledger that is already there goes on. `host` is the address at which the services listen;
        the control port stays on this machine. `port` 0 takes a free one. `clock` is for those who
        skip time. Raises OSError where the port is taken and ValueError for two services of one
        name.
        """
        known = list(services)
        if len({service.name for service in known}) < len(known):
            raise ValueError("two services have the same name")
        world = cls(folder, known, host, port, clock or Clock())
        try:
            await world._back.open()
            await world._front.open()
            yield world
        finally:
            await world._front.end()
            await world._back.end()
            await world._billing.end()
            world._ledger.close()

    @property
    def url(self) -> str:
        return self._front.url

    @property
    def control_url(self) -> str:
        """Where `/_world/` answers even during an outage."""
        return self._back.url

    async def _respond(self, connection: Connection, request: Request) -> None:
        if request.segments[0] == "_world":
            await self._door.respond(connection, request)
        else:
            await self._billing.respond(connection, request)

    async def effects(self, key: str | None = None) -> list[EffectRow]:
        return self._ledger.effects(key)

    async def requests(self, key: str | None = None) -> list[RequestRow]:
        return self._ledger.requests(key)

    async def fault(
        self,
        key: str,
        *,
        write: Iterable[str] | None = None,
        lookup: Iterable[str] | None = None,
    ) -> None:
        self._script.put(key, write=write, lookup=lookup)

    async def forget(self, key: str) -> None:
        self._billing.keys.forget(key)

    async def release(self, key: str = "*") -> None:
        self._billing.held.release(key)

    async def stop_listening(self) -> None:
        await self._front.close()

    async def listen_again(self) -> None:
        await self._front.open()
