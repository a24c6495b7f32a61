"""An MCP server behind a real port."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn

from surestep.embedded_process import free_port
from tests.waiting import eventually


@asynccontextmanager
async def over_http(server) -> AsyncIterator[str]:
    """The server's URL, over streamable HTTP."""
    port = free_port()
    config = uvicorn.Config(server.streamable_http_app(), port=port, log_level="error")
    running = uvicorn.Server(config)
    task = asyncio.create_task(running.serve())

    async def started():
        return running.started

    await eventually(started)
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        running.should_exit = True
        await task
