"""A pooler that gives each transaction of a client another session of the server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.postgresql.proxy import end

NO_ENCRYPTION = (80877103, 80877104)  # requests for TLS and for GSSAPI
READY, IDLE = b"Z", b"I"


class Pooler:
    """`turns` counts the transactions that ended, after which another session has its turn."""

    def __init__(self, target: int) -> None:
        self.port, self.turns = 0, 0
        self._target = target
        self._clients: set[asyncio.Task] = set()

    @classmethod
    @asynccontextmanager
    async def before(cls, target: int) -> AsyncIterator["Pooler"]:
        pooler = cls(target)
        server = await asyncio.start_server(pooler._serve, "127.0.0.1", 0)
        pooler.port = server.sockets[0].getsockname()[1]
        try:
            yield pooler
        finally:
            server.close()
            for task in pooler._clients:
                task.cancel()
            await asyncio.gather(*pooler._clients, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._clients.add(asyncio.current_task())
        sessions = []
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                startup = await _startup(reader, writer)
                for number in range(2):
                    sessions.append(await asyncio.open_connection("127.0.0.1", self._target))
                    source, sink = sessions[number]
                    sink.write(startup)
                    await _answered(source, None if number else writer)
                await self._converse(reader, writer, sessions)
        finally:
            await asyncio.gather(*(end(sink) for _, sink in sessions), end(writer))

    async def _converse(self, reader, writer, sessions) -> None:
        turn = 0
        while data := await reader.read(65536):
            source, sink = sessions[turn % 2]
            sink.write(data)
            if data.startswith(b"X"):
                return
            ended = await _answered(source, writer) == IDLE
            turn, self.turns = turn + ended, self.turns + ended


async def _startup(reader, writer) -> bytes:
    while True:
        length = await reader.readexactly(4)
        rest = await reader.readexactly(int.from_bytes(length) - 4)
        if int.from_bytes(rest[:4]) not in NO_ENCRYPTION:
            return length + rest
        writer.write(b"N")


async def _answered(source, sink) -> bytes:
    """Passes one whole answer on, if there is a sink; whether a transaction is open then."""
    while True:
        kind, length = await source.readexactly(1), await source.readexactly(4)
        rest = await source.readexactly(int.from_bytes(length) - 4)
        if sink:
            sink.write(kind + length + rest)
        if kind == READY:
            return rest
