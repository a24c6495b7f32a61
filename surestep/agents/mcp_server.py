"""Our tools, served to any MCP client: every call is a step.

    server = mcp_server(AgentTools(surestep, refund, within=timedelta(seconds=50)))
    app = server.streamable_http_app()        # or `python -m surestep.agents.mcp`

The client names the run: in the call's `_meta` (`surestep/run`), or in the HTTP header
`Surestep-Run`; a server that serves one run is told its name. MCP shows a server no conversation,
so equal calls are one intent for as long as the run lasts. A client whose user wants the same once
more names another run, such as `ticket-7781/2`, once the outcome in the first is known.

A call that is waited for tells of its progress. A connection that drops stops nothing: the same
call, made again under the same run, attaches to the step, and so does `surestep_recall`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final

try:
    import mcp_types as types
    from mcp import MCPError
    from mcp.server import Server
    from mcp.server.context import ServerRequestContext
except ImportError as error:
    raise ImportError("serving MCP needs the MCP SDK: pip install 'surestep[mcp]'") from error

from surestep.agents.agent_tools import AgentTools
from surestep.agents.declaration import description, schema
from surestep.agents.mcp_recall import RECALL, RECALLS, recalled
from surestep.agents.reply import Reply
from surestep.agents.scope import scope_of
from surestep.contract import Effect
from surestep.errors import ContractError, InvalidArguments
from surestep.outcome import Advice
from surestep.tool import Tool

META_RUN: Final = "surestep/run"
HEADER_RUN: Final = "Surestep-Run"
REMEDY: Final = (
    f"let the client send {META_RUN!r} in the call's _meta or the header {HEADER_RUN}, or start "
    "the server for one run"
)
INSTRUCTIONS: Final = (
    "Each action of these tools happens once. Where a reply says that an outcome is being "
    f"verified, do not repeat the call by any tool: ask {RECALL} for its outcome."
)

Context = ServerRequestContext[Any, Any]
RunOf = Callable[[Context], str | None]


def mcp_server(
    tools: AgentTools,
    *,
    run: str | RunOf | None = None,
    name: str = "surestep",
    progress: timedelta = timedelta(seconds=5),
) -> Server[Any]:
    """A server of the MCP SDK, for any of its transports.

    run       the run's name where the client sends none; or a function that says it, from a token
              for instance, and is believed instead of the client
    progress  how often a client that asks for progress hears that its call is waited for

    How long a call is waited for is `AgentTools(within=…)`; after that a reply says that it is
    pending. Raises ContractError where a tool has the name of ours.
    """
    if RECALL in {tool.name for tool in tools}:
        raise ContractError(f"a tool is named {RECALL!r}, as the one that recalls outcomes: rename")

    async def list_tools(
        _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[*map(_declared, tools), RECALLS])

    async def call_tool(
        context: Context, call: types.CallToolRequestParams
    ) -> types.CallToolResult:
        named = _run(context, run)
        try:
            async with _progress(context, progress):
                if call.name == RECALL:
                    scope = scope_of(named, REMEDY)
                    return _result(await recalled(tools, scope, call.arguments or {}))
                return _result(
                    await tools.call(call.name, call.arguments or {}, run=named, remedy=REMEDY)
                )
        except InvalidArguments as error:  # of the run, which only the client's developer can mend
            raise MCPError(types.INVALID_PARAMS, f"nothing was sent: {error}") from error

    return Server(name, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


def _run(context: Context, run: str | RunOf | None) -> str | None:
    if callable(run):
        return run(context)
    meta: Any = context.meta or {}
    headers = getattr(context.request, "headers", None) or {}
    return meta.get(META_RUN) or headers.get(HEADER_RUN) or run


def _declared(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=description(tool),
        input_schema=schema(tool),
        annotations=_annotations(tool.contract.effect),
    )


def _annotations(effect: Effect) -> types.ToolAnnotations:
    """What the contract says; what it does not say is left out, and counts as the worst."""
    if effect is Effect.READ:
        return types.ToolAnnotations(read_only_hint=True)
    return types.ToolAnnotations(
        read_only_hint=False,
        destructive_hint=True if effect is Effect.IRREVERSIBLE else None,
        idempotent_hint=True,  # within a run: an equal call attaches to the step of the first
    )


def _result(reply: Reply) -> types.CallToolResult:
    """An error is what the model can correct; an action that may have happened is none."""
    said = {"surestep/step": reply.step_id, "surestep/state": reply.state}
    return types.CallToolResult(
        content=[types.TextContent(text=reply.text)],
        is_error=reply.advice is Advice.FIX_AND_RESUBMIT,
        meta={**said, "surestep/advice": reply.advice.value},
    )


@asynccontextmanager
async def _progress(context: Context, every: timedelta) -> AsyncIterator[None]:
    """Inside, a client that asked for progress hears that the call is waited for."""

    async def tell() -> None:
        told = 0
        while True:
            await asyncio.sleep(every.total_seconds())
            told += 1
            await context.session.report_progress(told, message="its outcome is waited for")

    telling = asyncio.create_task(tell())
    try:
        yield
    finally:
        telling.cancel()
