"""One call of a tool of an MCP server: its result, or an error that says what is proven.

    where it ended                                         what it proves
    connecting, the handshake, the list of tools           not sent
    the server does not list the tool                      refused
    the connection was gone before the call was handed on  not sent
    over HTTP, the call's own connection was not made      not sent
    an error code of `REFUSALS`                            refused
    a refusing HTTP status, and no JSON-RPC in its body    refused
    anything else, a timeout, a connection that dropped    ambiguous

An error that says "invalid params" is ambiguous as well: SDKs also make it of a validation error
that a tool meets behind its effect. Each call has a connection of its own, and a server over stdio
a process of its own, so that what fails while they are made is never in doubt.
"""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from surestep.agents.mcp_transport import HttpServer, Place, Watch, connection
from surestep.errors import Ambiguous, NotSent, Refused

try:
    import mcp_types as types
    from mcp import Client, MCPError
except ImportError as error:
    raise ImportError("calling MCP needs the MCP SDK: pip install 'surestep[mcp]'") from error

__all__ = ["HttpServer", "Place", "called", "listed"]

REFUSALS: Final = frozenset(
    {types.METHOD_NOT_FOUND, types.UNSUPPORTED_PROTOCOL_VERSION, types.HEADER_MISMATCH}
)
"""Given before any tool is reached."""

CLOSING: Final = timedelta(seconds=5)
"""Kept back of a call's time: so long a server's process may take to end."""

PAGES: Final = 100


async def called(
    place: Place,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    within: timedelta,
    meta: Mapping[str, Any] | None = None,
) -> types.CallToolResult:
    """Call once; the result, also one with `is_error`. Raises NotSent, Refused or Ambiguous.

    meta  goes into the call's `_meta`
    """
    call = _Call(tool, dict(arguments), dict(meta or {}), Watch())
    try:
        async with asyncio.timeout(within.total_seconds()):
            await call.make(place, within - min(within * 0.2, CLOSING))
    except asyncio.CancelledError:
        if call.watch.unsent:
            raise NotSent("stopped before it was sent") from None
        raise
    except Exception as error:  # where there is a result, the connection may end as it likes
        call.error = call.error or error
    if isinstance(call.result, types.CallToolResult):
        return call.result
    raise call.proven() from call.error


async def listed(
    place: Place, *, within: timedelta = timedelta(seconds=30)
) -> dict[str, types.Tool]:
    """The server's tools by name, as it describes them. Raises NotSent where it does not answer."""
    found: dict[str, types.Tool] | None = None
    why: Exception | None = None
    try:
        async with asyncio.timeout(within.total_seconds()):
            async with Client(connection(place, Watch(), within)) as client:
                found = await _tools(client)
    except Exception as error:
        why = error
    if found is None:
        raise NotSent(f"the MCP server was not reached ({_cause(why)})") from why
    return found


class _Call:
    """One call on its way."""

    def __init__(
        self, tool: str, arguments: dict[str, Any], meta: dict[str, Any], watch: Watch
    ) -> None:
        self._tool = tool
        self._arguments = arguments
        self._meta: Any = meta or None
        self.watch = watch
        self.result: types.CallToolResult | types.InputRequiredResult | None = None
        self.error: Exception | None = None

    async def make(self, place: Place, within: timedelta) -> None:
        transport = connection(place, self.watch, within)
        async with Client(transport) as client:
            if self._tool not in await _tools(client):
                self.watch.verdict = Refused(f"the MCP server has no tool {self._tool!r}")
                return
            self.watch.handed = transport is place  # in this process there is nothing between
            try:
                self.result = await client.session.call_tool(
                    self._tool,
                    self._arguments,
                    within.total_seconds(),
                    meta=self._meta,
                    allow_input_required=True,
                )
            except Exception as error:  # caught here: outside, it would be one of a group
                self.error = error

    def proven(self) -> Exception:
        """What an end without a result proves."""
        if self.watch.verdict:
            return self.watch.verdict
        if self.watch.unsent:
            return NotSent(f"the MCP server was not reached ({_cause(self.error)})")
        if isinstance(self.error, MCPError):
            kind = Refused if self.error.code in REFUSALS else Ambiguous
            return kind(f"MCP error {self.error.code}: {self.error.message[:200]}")
        if self.result is not None:
            return Ambiguous("the MCP tool asks for input, and nobody is here to give it")
        return Ambiguous(f"no complete answer of the MCP server ({_cause(self.error)})")


async def _tools(client: Client) -> dict[str, types.Tool]:
    found: dict[str, types.Tool] = {}
    cursor: str | None = None
    for _ in range(PAGES):
        page = await client.list_tools(cursor=cursor)
        found |= {tool.name: tool for tool in page.tools}
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


def _cause(error: BaseException | None) -> str:
    """The class of the first error of a group, in whose text there may be anything."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return type(error).__name__
