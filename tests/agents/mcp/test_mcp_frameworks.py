"""Our tools served to the MCP client of a framework."""

import asyncio

import pytest
from agents import Agent, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from agents.testing import ScriptedModel
from mcp import MCPError

from surestep.agents import AgentTools
from surestep.agents.mcp_server import mcp_server
from tests.agents.mcp.serving import over_http
from tests.agents.openai_agents.script import REFUND, calls, outputs, says
from tests.steps import facts, tools
from tests.steps.proxy import Proxy


async def test_a_turn_of_the_openai_agents_sdk_whose_connection_dropped_attaches_when_tried_again(
    working, world, step_id
):
    """The call is made again while that of the lost connection is not settled."""
    set_tracing_disabled(True)
    key = f"{step_id}/keyed/1/keyed"
    await world.fault(key, write=["expect_kill"])

    async def turn(address):
        place = {"url": f"http://{address}/mcp", "headers": {"Surestep-Run": step_id}}
        model = ScriptedModel([calls(REFUND), says()])
        async with MCPServerStreamableHttp(place, client_session_timeout_seconds=30) as server:
            agent = Agent(name="Support", model=model, mcp_servers=[server])
            return await Runner.run(agent, "refund it")

    async with working(tools.keyed) as surestep:
        served = mcp_server(AgentTools(surestep, tools.keyed))
        async with over_http(served) as url, Proxy(url.split("/")[2]) as proxy:
            dropped = asyncio.create_task(turn(proxy.address))
            await facts.applied(world, key)
            proxy.cut()
            with pytest.raises(MCPError, match="Connection closed"):
                await dropped
            again = asyncio.create_task(turn(proxy.address))
            await world.release(key)
            result = await again
    assert f"[surestep: {step_id}/keyed/1 confirmed]" in str(outputs(result.to_input_list()))
    assert len(await facts.posts(world, f"{step_id}/*")) == 1
