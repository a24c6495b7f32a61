"""Raw servers: a function from one accepted socket to whatever it does to it, and a count."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

HOST = "127.0.0.1"


class Raw:
    """One raw server: how often it was connected to, and the requests it read."""

    def __init__(self) -> None:
        self.connections = 0
        self.requests: list[bytes] = []
        self.port = 0

    def url(self, scheme: str = "http") -> str:
        return f"{scheme}://{HOST}:{self.port}"


class Peer:
    """The server's end of one connection."""

    def __init__(self, raw: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._raw, self._reader, self._writer = raw, reader, writer

    async def request(self) -> bytes:
        """Reads one whole request, head and body."""
        head = await self.head()
        length = 0
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        whole = head + await self._reader.readexactly(length)
        self._raw.requests[-1] = whole
        return whole

    async def head(self) -> bytes:
        """Reads a request's head and leaves its body unread."""
        head = await self._reader.readuntil(b"\r\n\r\n")
        self._raw.requests.append(head)
        return head

    async def say(self, octets: bytes) -> None:
        self._writer.write(octets)
        await self._writer.drain()

    async def answer(self, status: str, body: bytes = b"", *headers: str) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
        await self.say("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    async def gone(self) -> None:
        with suppress(ConnectionError):
            while await self._reader.read(65536):
                pass

    def reset(self) -> None:
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def close(self) -> None:
        self._writer.close()


Behaviour = Callable[[Peer], Awaitable[None]]


@asynccontextmanager
async def serving(behaviour: Behaviour, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Raw]:
    """A server that does `behaviour` to every connection, then closes it."""
    raw = Raw()
    tasks: set[asyncio.Task[None]] = set()

    async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raw.connections += 1
        task = asyncio.current_task()
        assert task
        tasks.add(task)
        peer = Peer(raw, reader, writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await behaviour(peer)
        peer.close()

    server = await asyncio.start_server(accepted, HOST, 0, ssl=tls)
    raw.port = server.sockets[0].getsockname()[1]
    try:
        yield raw
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def answering(status: str, body: bytes = b"", *headers: str) -> Behaviour:
    """Reads one request and answers it."""

    async def behaviour(peer: Peer) -> None:
        await peer.request()
        await peer.answer(status, body, *headers)

    return behaviour


def closed_port() -> int:
    """A port on which nobody listens, for as long as nobody else takes it."""
    with socket.socket() as sock:
        sock.bind((HOST, 0))
        return int(sock.getsockname()[1])
