"""An MCP server of somebody else, in a process of its own: it charges in the world."""

import asyncio
import os
from pathlib import Path

import httpx
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

server = MCPServer("billing")


@server.tool(annotations=ToolAnnotations(read_only_hint=False, idempotent_hint=False))
async def charge(order: str, cents: int, reference: str, note: str = "none") -> dict[str, str]:
    """Charge an order."""
    effect = {"order": order, "cents": cents, "note": note}
    async with httpx.AsyncClient(verify=False) as http:
        answer = await http.post(
            f"{os.environ['WORLD_URL']}/lookup/effects",
            json=effect,
            headers={"Idempotency-Key": reference},
        )
    if order == "hangs":
        await asyncio.Event().wait()
    if order == "fails":
        raise ToolError("out of paper")
    return {"id": answer.json()["id"]}


if __name__ == "__main__":
    if "PID_FILE" in os.environ:
        Path(os.environ["PID_FILE"]).write_text(str(os.getpid()))
    server.run()
