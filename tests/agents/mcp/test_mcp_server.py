"""Our tools served over MCP: what a client repeats is one effect, and it is told the truth."""

import asyncio
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from surestep import ContractError, Surestep, Tool
from surestep.agents import AgentTools
from surestep.agents.mcp_server import mcp_server
from tests.agents.mcp.serving import over_http
from tests.saying import say
from tests.steps import facts, tools

REFUND = {"order": "o-1", "cents": 2500}
OTHER = {"order": "o-2", "cents": 100}
ROOT = Path(__file__).parents[3]


@pytest.fixture
def run(step_id):
    return step_id


def served(surestep, *ours, within=None, **how):
    """A server as a restarted process has it: it remembers nothing."""
    return mcp_server(AgentTools(surestep, *(ours or [tools.keyed]), within=within), **how)


async def ask(client, arguments, run, tool="keyed", **how):
    return await client.call_tool(tool, arguments, meta={"surestep/run": run}, **how)


def text(result):
    return result.content[0].text


async def sent(world, run):
    return len(await facts.posts(world, f"{run}/*"))


async def test_a_tool_is_declared_from_its_argument_model_and_its_contract(client):
    async with Client(served(Surestep(client))) as on:
        keyed, recall = (await on.list_tools()).tools
    assert keyed.input_schema["required"] == ["order", "cents"]
    hints = keyed.annotations
    assert (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint) == (
        False,
        True,
        True,
    )
    assert recall.annotations.read_only_hint


async def test_a_call_made_again_with_a_new_request_id_is_one_effect(working, world, run):
    async with working(tools.keyed) as surestep:
        replies = []
        for _ in range(2):
            async with Client(served(surestep)) as on:
                replies.append(await ask(on, REFUND, run))
        async with Client(served(surestep), mode="legacy") as on:
            replies.append(await ask(on, REFUND, run))
    assert len({text(one) for one in replies}) == 1
    assert replies[0].meta["surestep/state"] == "confirmed"
    assert not replies[0].is_error
    assert await sent(world, run) == 1


async def test_a_key_that_the_model_invents_changes_nothing(working, world, run):
    async with working(tools.keyed) as surestep, Client(served(surestep)) as on:
        for invented in ("m-1", "m-2"):
            await ask(on, {**REFUND, "idempotency_key": invented}, run)
    assert [one.key for one in await world.effects(f"{run}/*")] == [f"{run}/keyed/1/keyed"]


async def test_other_arguments_are_another_effect_unless_the_intent_has_a_name(working, world, run):
    changed = {**REFUND, "cents": 2400}
    async with working(tools.keyed) as surestep:
        async with Client(served(surestep)) as on:
            await ask(on, REFUND, run)
            await ask(on, changed, run)
        assert await sent(world, run) == 2
        named = {"keyed": lambda refund: f"{run}/order/{refund.order}"}
        async with Client(mcp_server(AgentTools(surestep, tools.keyed, intents=named))) as on:
            first = await ask(on, REFUND, "one")
            reply = await ask(on, changed, "two")
    assert first.meta["surestep/step"] == f"{run}/order/o-1"
    assert text(reply).startswith("Nothing was sent for this call.")
    assert f"[surestep: {run}/order/o-1 confirmed]" in text(reply)
    assert await sent(world, run) == 3


async def test_a_stubborn_model_that_calls_ten_times_makes_one_effect(working, world, run):
    async with working(tools.keyed) as surestep, Client(served(surestep)) as on:
        told = {text(await ask(on, REFUND, run)) for _ in range(10)}
    assert len(told) == 1
    assert await sent(world, run) == 1


async def test_calls_made_at_once_are_told_apart_by_their_arguments(working, world, run):
    async with working(tools.keyed) as surestep, Client(served(surestep)) as on:
        calls = [ask(on, given, run) for given in (REFUND, OTHER, REFUND)]
        first, second, third = await asyncio.gather(*calls)
    assert text(first) == text(third) != text(second)
    assert await sent(world, run) == 2


async def test_another_run_is_an_intended_repeat(working, world, run):
    async with working(tools.keyed) as surestep, Client(served(surestep)) as on:
        steps = [await ask(on, REFUND, name) for name in (run, f"{run}/2", f"{run}/2")]
    assert [one.meta["surestep/step"] for one in steps] == [
        f"{run}/keyed/1",
        f"{run}/2/keyed/1",
        f"{run}/2/keyed/1",
    ]
    assert await sent(world, run) == 2


async def test_a_call_of_no_run_is_refused_with_the_remedy(working, world, run):
    async with working(tools.keyed) as surestep:
        async with Client(served(surestep)) as on:
            with pytest.raises(MCPError, match=r"nothing was sent: .*surestep/run"):
                await on.call_tool("keyed", REFUND)
        async with Client(served(surestep, run=run)) as on:
            assert (await on.call_tool("keyed", REFUND)).meta["surestep/step"] == f"{run}/keyed/1"
        async with Client(served(surestep, run=lambda _: f"{run}/theirs")) as on:
            reply = await ask(on, REFUND, run)
            assert reply.meta["surestep/step"] == f"{run}/theirs/keyed/1"


async def test_bad_calls_are_answered_and_cost_nothing(working, world, run):
    async with working(tools.keyed) as surestep, Client(served(surestep)) as on:
        bad = [
            await ask(on, {"order": "o-1"}, run),
            await ask(on, REFUND, run, tool="unheard"),
            await ask(on, {}, run, tool="surestep_recall"),
            await ask(on, {"step_id": f"{run}/keyed/1"}, run, tool="surestep_recall"),
        ]
    assert all(one.is_error for one in bad)
    assert all(text(one).startswith("Nothing was sent for this call.") for one in bad)
    assert await sent(world, run) == 0


async def test_a_long_wait_tells_of_progress_then_is_pending_and_can_be_recalled(
    working, world, run
):
    await world.fault(f"{run}/blind/1/blind", write=["reply_lost"])
    heard = []

    async def hear(progress, total, message):
        heard.append(message)

    async with working(tools.blind) as surestep:
        short = {"within": timedelta(seconds=2), "progress": timedelta(seconds=0.2)}
        async with Client(served(surestep, tools.blind, **short)) as on:
            reply = await ask(on, REFUND, run, tool="blind", progress_callback=hear)
            assert (reply.meta["surestep/state"], reply.is_error) == ("pending", False)
            assert heard
            step = {"step_id": reply.meta["surestep/step"]}
            waiting = [ask(on, REFUND, run, tool="blind") for _ in range(9)]
            asked = ask(on, step, run, tool="surestep_recall")
            replies = await asyncio.gather(*waiting, asked)
            assert {text(one) for one in replies} == {text(reply)}
            await facts.parked(surestep, f"{run}/blind/1")
            await say(surestep, f"{run}/blind/1", "confirm", by="ada", note="in the log")
            await surestep.handle(f"{run}/blind/1").outcome()
            recalled = await ask(on, step, run, tool="surestep_recall")
            assert recalled.meta["surestep/state"] == "confirmed"
            again = await ask(on, REFUND, run, tool="blind")
            assert text(again) == text(recalled)
            stranger = await ask(on, step, f"{run}-2", tool="surestep_recall")
            assert "This run has no step" in text(stranger)
    assert await sent(world, run) == 1


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_connection_that_drops_stops_nothing_and_the_next_call_attaches(
    mode, working, world, run
):
    key = f"{run}/keyed/1/keyed"
    await world.fault(key, write=["expect_kill"])
    async with working(tools.keyed) as surestep, over_http(served(surestep)) as url:

        async def call():
            async with httpx2.AsyncClient(headers={"Surestep-Run": run}) as http:
                at = streamable_http_client(url, http_client=http, terminate_on_close=False)
                async with Client(at, mode=mode) as on:
                    return await on.call_tool("keyed", REFUND)

        dropped = asyncio.create_task(call())
        await facts.applied(world, key)
        dropped.cancel()
        with pytest.raises(asyncio.CancelledError):
            await dropped
        again = asyncio.create_task(call())
        await world.release(key)
        reply = await again
    assert reply.meta["surestep/step"] == f"{run}/keyed/1"
    assert reply.meta["surestep/state"] == "confirmed"
    assert await sent(world, run) == 1


async def test_a_server_that_was_killed_in_a_call_has_a_successor_that_attaches(
    temporal_address, working, world, run, tmp_path
):
    key, pid = f"{run}/keyed/1/keyed", tmp_path / "pid"
    await world.fault(key, write=["expect_kill"])
    async with working(tools.keyed) as surestep:
        door = StdioServerParameters(
            command=sys.executable,
            args=["-m", "surestep.agents.mcp", "--run", run],
            cwd=ROOT,
            env={
                "TEMPORAL_ADDRESS": temporal_address,
                "SURESTEP_TASK_QUEUE": surestep.task_queue,
                "SURESTEP_TOOLS": "tests.agents.mcp.door:tools",
                "PID_FILE": str(pid),
            },
        )
        async with Client(door) as on:
            dropped = asyncio.create_task(on.call_tool("keyed", REFUND))
            await facts.applied(world, key, within=60)
            os.kill(int(pid.read_text()), signal.SIGKILL)
            with pytest.raises(MCPError, match="Connection closed"):
                await dropped
        await world.release(key)
        async with Client(served(surestep, run=run)) as on:
            reply = await on.call_tool("keyed", REFUND)
    assert reply.meta["surestep/step"] == f"{run}/keyed/1"
    assert reply.meta["surestep/state"] == "confirmed"
    assert await sent(world, run) == 1


async def test_a_tool_of_the_name_of_ours_is_refused(client):
    taken = Tool("surestep_recall", tools.Charge, tools.keyed.contract)
    taken.execute(tools.keyed.execute_with)
    taken.verify(tools.keyed.verify_with)
    with pytest.raises(ContractError, match="rename"):
        served(Surestep(client), taken)
