"""A tool of an MCP server, wrapped as ours: its calls are steps, its failures are classified."""

import asyncio
import os
import signal
import sys
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from mcp import StdioServerParameters
from mcp_types import CallToolResult, TextContent

from surestep import (
    Ambiguous,
    Call,
    Contract,
    ContractError,
    Effect,
    InvalidArguments,
    KeySupport,
    Receipt,
    Refused,
    State,
)
from surestep.agents import AgentTools
from surestep.agents.declaration import description, schema
from surestep.agents.mcp_client import ActionKey, HttpServer, called, listed, mcp_tool, proof
from surestep.agents.mcp_server import mcp_server
from tests.agents.mcp import billing
from tests.agents.mcp.serving import over_http
from tests.steps import facts, tools

ROOT = Path(__file__).parents[3]
BLIND = Contract(effect=Effect.IRREVERSIBLE, ask=True, timeout=timedelta(seconds=60))
REFERENCE = ActionKey(meta=None, argument="reference")
LIMIT = timedelta(seconds=20)


@pytest.fixture(scope="module")
def described():
    """What the server says of its tool; a project keeps it in a file."""
    return asyncio.run(listed(billing.server))["charge"]


def call(key="k-1"):
    return Call(key, 1, datetime.now(UTC) + timedelta(seconds=20))


async def test_it_takes_what_the_server_describes_and_no_model_sets_the_key(described):
    charge = mcp_tool(described, billing.server, BLIND, recognise="order", key=REFERENCE)
    assert list(schema(charge)["properties"]) == ["order", "cents", "note"]
    assert description(charge).startswith("Charge an order.")
    assert charge(order="o-1", cents=1).arguments == {"order": "o-1", "cents": 1}
    for wrong, why in (
        ({"order": "o-1"}, "cents"),
        ({"order": "o-1", "cents": "1"}, "cents"),
        ({"order": "o-1", "cents": 1, "reference": "m-1"}, "reference"),
    ):
        with pytest.raises(InvalidArguments, match=why):
            charge(**wrong)


async def test_a_call_carries_the_action_id_and_is_confirmed_once(
    described, working, world, step_id
):
    charge = mcp_tool(described, billing.server, BLIND, recognise="order", key=REFERENCE)
    async with working(charge) as surestep:
        outcome = await surestep.run(step_id, charge(order="o-1", cents=2500))
    assert outcome.state is State.CONFIRMED
    (effect,) = await world.effects(f"{step_id}/charge")
    assert effect.body == {"order": "o-1", "cents": 2500, "note": "none"}
    assert outcome.result["id"] == effect.id


def process(world, **settings):
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "tests.agents.mcp.billing"],
        cwd=ROOT,
        env={"WORLD_URL": world.url, **settings},
    )


async def test_a_server_that_is_killed_in_a_call_leaves_it_to_the_lookup(
    described, working, world, step_id, tmp_path
):
    pid, key = tmp_path / "pid", f"{step_id}/charge"
    place = process(world, PID_FILE=str(pid))
    charge = mcp_tool(described, place, BLIND, key=REFERENCE)

    @charge.verify
    async def _(args, call):
        return await tools.look("lookup", tools.Charge(order=args.order, cents=args.cents), call)

    async with working(charge) as surestep:
        handle = await surestep.start(step_id, charge(order="hangs", cents=2500))
        await facts.applied(world, key, within=60)
        os.kill(int(pid.read_text()), signal.SIGKILL)
        outcome = await handle.outcome()
    assert outcome.state is State.CONFIRMED
    assert "MCP error -32000" in facts.told(outcome)
    assert len(await facts.posts(world, key)) == 1


async def test_a_tool_that_reports_an_error_may_have_had_its_effect(described, world):
    charge = mcp_tool(described, billing.server, BLIND, key=REFERENCE)
    args = charge.load(charge(order="fails", cents=1).arguments)
    with pytest.raises(Ambiguous, match="out of paper"):
        await charge.execute_with(args, call())
    assert await world.count("k-1") == 1


async def test_who_knows_the_tool_says_what_its_errors_prove(described, world):
    def out_of_paper_applies_nothing(result):
        if result.is_error and "out of paper" in result.content[0].text:
            raise Refused("out of paper", again=True)
        return proof(result)

    charge = mcp_tool(
        described, billing.server, BLIND, key=REFERENCE, answer=out_of_paper_applies_nothing
    )
    args = charge.load(charge(order="fails", cents=1).arguments)
    with pytest.raises(Refused, match="out of paper"):
        await charge.execute_with(args, call())


async def test_a_call_that_takes_too_long_is_ambiguous(world):
    given = {"order": "hangs", "cents": 1, "reference": "k-1"}
    with pytest.raises(Ambiguous, match="Timed out"):
        await called(billing.server, "charge", given, within=timedelta(seconds=2))
    assert await world.count("k-1") == 1


@pytest.mark.parametrize(
    ("promised", "hinted", "doubt"),
    [
        ({"effect": Effect.READ}, {"readOnlyHint": False}, "it writes"),
        ({"effect": Effect.REVERSIBLE}, {"destructiveHint": True}, "it destroys"),
        (
            {"key": KeySupport(lifetime=timedelta(days=1))},
            {"idempotentHint": False},
            "another effect",
        ),
        ({}, {"readOnlyHint": True, "idempotentHint": True}, None),
    ],
)
def test_annotations_are_hints_that_can_only_raise_doubts(promised, hinted, doubt):
    told = {"name": "pay", "inputSchema": {"type": "object"}, "annotations": hinted}
    contract = Contract(**{"effect": Effect.IRREVERSIBLE, "ask": True, **promised})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tool = mcp_tool(told, billing.server, contract)
    assert [doubt in str(one.message) for one in caught] == ([True] if doubt else [])
    assert tool.contract == contract


def test_what_was_described_is_checked_when_the_tool_is_made(described):
    for how, why in (
        ({"recognise": "reference"}, "recognise"),
        ({"key": ActionKey(argument="idempotency_key")}, "idempotency_key"),
    ):
        with pytest.raises(ContractError, match=why):
            mcp_tool(described, billing.server, BLIND, **{"key": REFERENCE, **how})
    broken = {"name": "pay", "inputSchema": {"type": "object", "required": "order"}}
    with pytest.raises(ContractError, match="no JSON schema"):
        mcp_tool(broken, billing.server, BLIND)


async def test_a_server_of_ours_takes_the_key_for_the_run_and_attaches(working, world, step_id):
    async with (
        working(tools.keyed) as surestep,
        over_http(mcp_server(AgentTools(surestep, tools.keyed))) as url,
    ):
        place = HttpServer(url)
        theirs = (await listed(place))["keyed"]
        ours = mcp_tool(theirs, place, tools.keyed.contract)
        args = ours.load(ours(order="o-1", cents=2500).arguments)
        first, second = [await ours.execute_with(args, call(step_id)) for _ in range(2)]
    assert first == second
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


@pytest.mark.parametrize(
    ("state", "proven"),
    [("pending", Ambiguous), ("unknown", Ambiguous), ("rejected", Refused), ("confirmed", None)],
)
def test_a_reply_of_a_server_of_ours_confirms_only_what_is_confirmed(state, proven):
    text = TextContent(text="said")
    result = CallToolResult(content=[text], meta={"surestep/state": state})
    if proven is None:
        assert proof(result) == Receipt(result="said")
    else:
        with pytest.raises(proven):
            proof(result)
