"""One TCP port that can stop listening and begin again without ever losing its number."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from ipaddress import ip_address
from typing import Final

import h11

from surestep.testing.tasks import Tasks
from surestep.testing.wire import Connection, Request

HOST: Final = "127.0.0.1"

Respond = Callable[[Connection, Request], Awaitable[None]]


class Listener:
    """Accepts connections on one port and gives each request to `respond`, in order per socket.

    `port` 0 takes a free one, known once the listener was opened. `host` is an IPv4 address.
    """

    def __init__(self, port: int, respond: Respond, host: str = HOST) -> None:
        self.port = port
        self._host = host
        self._respond = respond
        self._socket: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._connections: set[Connection] = set()
        self._conversations = Tasks()

    @property
    def url(self) -> str:
        """Where this machine reaches it, also if it listens on all addresses."""
        return f"http://{HOST if ip_address(self._host).is_unspecified else self._host}:{self.port}"

    async def open(self) -> None:
        """Begins to accept; does nothing where it already does. OSError: the port is taken."""
        if self._socket is None:
            self._socket = _bound(self._host, self.port)
            self.port = self._socket.getsockname()[1]
        if self._server is None:
            self._server = await asyncio.start_server(self._accepted, sock=self._socket)

    async def close(self) -> None:
        """Refuses new connections and drops idle ones; requests in work are still answered.

        Returns when the idle ones are gone, so that no client begins a request on one of them.
        """
        if self._server is None:
            return
        self._server.close()
        self._server = None
        # Bound but not listening refuses connections, and keeps the port out of others' hands.
        self._socket = _bound(self._host, self.port)
        idle = [connection for connection in self._connections if connection.idle]
        for connection in self._connections:
            connection.last_answer = True
        for connection in idle:
            connection.close()
            await connection.closed()

    async def end(self) -> None:
        """Closes the port and every connection, whatever is still in work."""
        await self.close()
        if self._socket is not None:
            self._socket.close()
        in_work = list(self._connections)
        await self._conversations.end()
        for connection in in_work:
            await connection.closed()

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._conversations.spawn(self._converse(Connection(reader, writer)))

    async def _converse(self, connection: Connection) -> None:
        self._connections.add(connection)
        try:
            with suppress(ConnectionError, h11.RemoteProtocolError):
                while self._server is not None and (request := await connection.receive()):
                    await self._respond(connection, request)
        except asyncio.CancelledError:
            # A close would wait for a peer that does not read; only idle ones deserve that.
            connection.reset()
            raise
        finally:
            self._connections.discard(connection)
            connection.close()


def _bound(host: str, port: int) -> socket.socket:
    # asyncio sets TCP_NODELAY only where the protocol is named; without, an answer takes 40 ms.
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
    except OSError:
        sock.close()
        raise
    return sock
