"""A TCP proxy before PostgreSQL that knows when COMMIT passes, and may not let it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

COMMIT = b"COMMIT\0"  # the end of the message, so that READ COMMITTED is none


class Proxy:
    """What happens to the next message that ends with `word`.

    cut_before  it is swallowed, and the connection is cut
    cut_after   it reaches the server; the connection is cut when the server has answered
    hold        it is kept until `release` is set
    """

    def __init__(self, target: int) -> None:
        self.fate = "pass"
        self.word = COMMIT
        self.reached = asyncio.Event()
        self.release = asyncio.Event()
        self.port = 0
        self._target = target
        self._clients: dict[asyncio.Task, asyncio.StreamWriter] = {}

    @classmethod
    @asynccontextmanager
    async def before(cls, target: int) -> AsyncIterator["Proxy"]:
        proxy = cls(target)
        server = await asyncio.start_server(proxy._serve, "127.0.0.1", 0)
        proxy.port = server.sockets[0].getsockname()[1]
        try:
            yield proxy
        finally:
            server.close()
            proxy.release.set()
            for writer in proxy._clients.values():
                writer.transport.abort()
            await asyncio.gather(*proxy._clients)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._clients[task] = writer
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._target)
        back = asyncio.create_task(_pass(server_reader, writer))
        try:
            with suppress(ConnectionError):
                while data := await reader.read(65536):
                    if data.endswith(self.word) and self.fate != "pass":
                        fate, self.fate = self.fate, "pass"
                        self.reached.set()
                        if fate == "hold":
                            await self.release.wait()
                        elif fate == "cut_before":
                            break
                        else:
                            back.cancel()
                            await asyncio.wait([back])
                            server_writer.write(data)
                            await server_reader.read(1)
                            break
                    server_writer.write(data)
        finally:
            back.cancel()
            await asyncio.gather(back, end(writer), end(server_writer), return_exceptions=True)
            del self._clients[task]


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
    await end(writer)


async def end(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with suppress(ConnectionError):
        await writer.wait_closed()
