"""`python -m surestep.agents.mcp`: the tools of SURESTEP_TOOLS, served to MCP clients.

Over stdin and stdout, or with --http. Workers that know the tools run elsewhere.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from surestep.agents.agent_tools import AgentTools
from surestep.agents.mcp_server import HEADER_RUN, META_RUN, mcp_server
from surestep.client import Surestep
from surestep.errors import SurestepError, UnknownTool
from surestep.settings import Settings
from surestep.tool import Tools
from surestep.toolbox import load_tools

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the client leaves, or a signal ends it; the exit code."""
    given = _parser().parse_args(arguments)
    try:
        tools = load_tools(Settings.from_environment().tools)
        if not tools:
            raise UnknownTool(
                "there are no tools to serve: set SURESTEP_TOOLS=package.module:tools"
            )
        asyncio.run(_serve(tools, given.run, timedelta(seconds=given.within), given.http))
    except SurestepError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m surestep.agents.mcp", description=__doc__)
    parser.add_argument(
        "--run",
        help=f"the run's name where a client sends neither {META_RUN!r} in _meta nor the header "
        f"{HEADER_RUN}; equal calls under it are one intent, for ever",
    )
    parser.add_argument(
        "--within",
        type=float,
        default=50,
        metavar="SECONDS",
        help="how long a call is waited for (default: %(default)g)",
    )
    parser.add_argument(
        "--http",
        type=_place,
        metavar="[HOST:]PORT",
        help="streamable HTTP at /mcp instead of stdin and stdout; on 127.0.0.1 by default",
    )
    return parser


def _place(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host or "127.0.0.1", int(port)


def _warning(host: str, port: int) -> str | None:
    """The SDK checks Host and Origin on this machine only, and nobody asks who a client is."""
    if host in LOOPBACK:
        return None
    return (
        f"whoever reaches {host}:{port} can call these tools, in any run: let nobody reach it but "
        "a proxy that asks who they are"
    )


async def _serve(
    tools: Tools, run: str | None, within: timedelta, http: tuple[str, int] | None
) -> None:
    undos = [tool.undo for tool in tools]
    async with Surestep.connect() as surestep:
        ours = AgentTools(surestep, *(one for one in tools if one not in undos), within=within)
        server = mcp_server(ours, run=run)
        await (_over_stdio(server) if http is None else _over_http(server, *http))


async def _over_stdio(server: Any) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def _over_http(server: Any, host: str, port: int) -> None:
    import uvicorn

    warning = _warning(host, port)
    if warning:
        print(warning, file=sys.stderr)
    app = server.streamable_http_app(host=host)
    await uvicorn.Server(uvicorn.Config(app, host=host, port=port)).serve()


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Temporal's SDK can crash while the interpreter is taken down (temporalio/sdk-python#300), and
    # a client kills a server that takes long to leave.
    os._exit(code)
