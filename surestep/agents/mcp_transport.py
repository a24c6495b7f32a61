"""Connections to MCP servers that say how far the call of a tool has come."""

import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from ssl import SSLContext
from typing import Any, Final

from surestep.errors import Ambiguous, Refused
from surestep.evidence import Sending
from surestep.http.proof import Phase, Track, of_status
from surestep.http.transport import retry_after

try:
    import httpx2
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.server import MCPServer, Server
except ImportError as error:
    raise ImportError("calling MCP needs the MCP SDK: pip install 'surestep[mcp]'") from error

CALL: Final = "tools/call"


@dataclass(frozen=True)
class HttpServer:
    """A server over streamable HTTP. `headers` is called for each connection: credentials."""

    url: str
    headers: Callable[[], Mapping[str, str]] = dict


Place = HttpServer | StdioServerParameters | Server[Any] | MCPServer[Any]
"""Where a server is: over HTTP, a command to start, or an object in this process."""


@dataclass
class Watch:
    """What was seen of the one call.

    handed   the transport was given it
    http     how far its exchange came, over HTTP
    verdict  what is proven already, without an answer of the MCP server
    """

    handed: bool = False
    http: Track | None = None
    verdict: Refused | Ambiguous | None = None

    @property
    def unsent(self) -> bool:
        """Whether it is certain that no byte of the call has left."""
        return not self.handed or (self.http is not None and self.http.unsent)

    async def requested(self, request: httpx2.Request) -> None:
        if self.http and _is_call(request):
            if self.http.phase is not Phase.BUILDING:  # the SDK would repeat it elsewhere
                self.verdict = Ambiguous("the call was redirected: use the address it points to")
                raise self.verdict
            self.http.begin()
            request.extensions = {**request.extensions, "trace": self.http.trace}

    async def answered(self, response: httpx2.Response) -> None:
        means = of_status(response.status_code)
        refused = means in (Sending.REFUSED, Sending.REFUSED_FOR_NOW)
        # An error in JSON-RPC may be the tool's own, whatever the status is.
        if refused and _is_call(response.request) and not _has("jsonrpc", await response.aread()):
            found: Any = response
            self.verdict = Refused(
                f"refused with status {response.status_code}",
                again=means is Sending.REFUSED_FOR_NOW,
                retry_after=retry_after(found),
            )


def connection(place: Place, watch: Watch, within: timedelta) -> Any:
    """What the SDK's Client connects by."""
    match place:
        case HttpServer():
            return _watched(_http(place, watch, within), watch)
        case StdioServerParameters():
            return _watched(stdio_client(place, errlog=sys.stderr), watch)
        case _:
            return place


@asynccontextmanager
async def _http(place: HttpServer, watch: Watch, within: timedelta) -> AsyncIterator[Any]:
    watch.http = Track()
    client = httpx2.AsyncClient(
        headers=dict(place.headers()),
        timeout=within.total_seconds(),
        verify=_trusted(),
        # A kept connection that the server closes makes an unsent call look ambiguous.
        limits=httpx2.Limits(max_keepalive_connections=0),
        event_hooks={"request": [watch.requested], "response": [watch.answered]},
    )
    async with client, streamable_http_client(place.url, http_client=client) as streams:
        yield streams


@cache
def _trusted() -> SSLContext:
    return httpx2.create_ssl_context()  # takes longer than a call, so it is done once


@asynccontextmanager
async def _watched(
    transport: AbstractAsyncContextManager[Any], watch: Watch
) -> AsyncIterator[tuple[Any, Any]]:
    async with transport as (read, write):
        yield read, _Writes(write, watch)


class _Writes:
    """A transport's stream of what goes out."""

    def __init__(self, stream: Any, watch: Watch) -> None:
        self._stream = stream
        self._watch = watch

    async def send(self, item: Any) -> None:
        if getattr(item.message, "method", None) == CALL:
            self._watch.handed = True
        await self._stream.send(item)

    async def __aenter__(self) -> "_Writes":
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *ended: Any) -> Any:
        return await self._stream.__aexit__(*ended)


def _is_call(request: httpx2.Request) -> bool:
    return request.method == "POST" and _has("method", request.content, CALL)


def _has(name: str, body: bytes, value: str | None = None) -> bool:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and name in found and value in (None, found[name])
