"""Whether a worker lives and asks for work, over HTTP: for whoever restarts and replaces workers.

`/healthz` is answered by the worker's event loop, so one that hangs does not answer. It says
nothing of the Temporal server: a worker that is restarted because of an outage takes along the
answers that it keeps for the server.

`/readyz` says in addition whether the server hears this worker ask for work. It is 503, with the
reason, before the first poll, during an outage, and once the worker is stopping.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from surestep.errors import SurestepError
from surestep.pollers import ACTIVITIES, WORKFLOWS, pollers

ANSWERS_WITHIN: Final = timedelta(seconds=4)
ASKS_FOR: Final = timedelta(seconds=3)
SILENT_FOR: Final = timedelta(minutes=2)
"""A poll lasts for a minute at the most, and the server hears of a worker at its begin."""

TYPES: Final = {"workflow": WORKFLOWS, "activity": ACTIVITIES}

Why = Callable[[], Awaitable[str | None]]
"""Why it is not ready; None: it is."""


@asynccontextmanager
async def answering(listen: str, why_not: Why) -> AsyncIterator[None]:
    """Answer at `listen` (host:port) within the block. Raises SurestepError: the port is taken."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, IndexError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(ANSWERS_WITHIN.total_seconds()):
                asked = await reader.readuntil(b"\r\n\r\n")
                status, text = await _answer(asked.split(b" ")[1], why_not)
                body = f"{text}\n".encode()
                head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
                head += f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
                writer.write(head.encode() + body)
                await writer.drain()
        writer.close()

    host, _, port = listen.rpartition(":")
    try:
        server = await asyncio.start_server(converse, host.strip("[]"), int(port), limit=8192)
    except OSError as error:
        raise SurestepError(
            f"SURESTEP_HEALTH={listen} cannot be listened at: {error.strerror}. Choose another "
            "port, or unset it"
        ) from error
    try:
        yield
    finally:
        server.close()


async def _answer(path: bytes, why_not: Why) -> tuple[str, str]:
    match path.split(b"?")[0]:
        case b"/healthz":
            return "200 OK", "lives"
        case b"/readyz":
            why = await why_not()
            return ("503 Service Unavailable", why) if why else ("200 OK", "asks for work")
        case _:
            return "404 Not Found", "/healthz or /readyz"


async def unheard(client: Client, task_queue: str) -> str | None:
    """Why the server is not said to hear this client's worker ask for work; None: it does.

    Where credentials may not look at the queue, an answer of the server has to do.
    """
    try:
        known = await pollers(client, task_queue, ASKS_FOR)
    except RPCError as error:
        denied = error.status is RPCStatusCode.PERMISSION_DENIED
        return None if denied else f"the server does not answer: {error.message}"
    since = datetime.now(UTC) - SILENT_FOR
    for name, kind in TYPES.items():
        if not any(
            poller.identity == client.identity and poller.last_access_time.ToDatetime(UTC) > since
            for poller in known[kind]
        ):
            return f"the server does not hear it ask for {name} tasks"
    return None
