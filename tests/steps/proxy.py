"""A place between a client and the Temporal server where answers can be lost."""

import asyncio
from contextlib import suppress

from surestep.embedded_folder import IP


class Proxy:
    """Relays TCP connections. What `swallows` is set during never reaches the client."""

    def __init__(self, address: str) -> None:
        self._host, _, self._port = address.partition(":")
        self._open: set[asyncio.StreamWriter] = set()
        self._relays: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.swallows = False

    async def __aenter__(self) -> "Proxy":
        self._server = await asyncio.start_server(self._accept, IP, 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server
        self._server.close()
        self.cut()
        if self._relays:
            await asyncio.wait(self._relays)

    @property
    def address(self) -> str:
        assert self._server
        return f"{IP}:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """Break every connection, and lose no more answers of new ones."""
        self.swallows = False
        for writer in self._open:
            writer.transport.abort()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        relay = asyncio.create_task(self._relay(reader, writer))
        self._relays.add(relay)
        relay.add_done_callback(self._relays.discard)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream_reader, upstream = await asyncio.open_connection(self._host, int(self._port))
        self._open |= {writer, upstream}
        there = asyncio.create_task(self._pump(reader, upstream, answers=False))
        back = asyncio.create_task(self._pump(upstream_reader, writer, answers=True))
        await asyncio.wait([there, back])
        self._open -= {writer, upstream}

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool
    ) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                if not (answers and self.swallows):
                    writer.write(data)
                    await writer.drain()
        writer.transport.abort()
