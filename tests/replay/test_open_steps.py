"""The look at a server's open steps that comes before a deploy."""

import pytest

import workflows.settling
from surestep import State
from surestep.policy import Wait
from surestep.visibility import STATE
from tests.replay.open_steps import replay
from tests.replay.stage import breaks, tool
from tests.waiting import eventually


@pytest.fixture
async def open_step(working, client, step_id):
    """The query that finds one step, which is open and unknown."""
    charge = tool("charge", breaks, None)
    async with working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await eventually(
            lambda: surestep.steps(f"WorkflowId = '{step_id}' AND {STATE} = '{State.UNKNOWN}'")
        )
    return f" AND WorkflowId = '{step_id}'"


async def test_open_steps_of_a_server_are_replayed(client, open_step):
    assert await replay(client, more=open_step, limit=10) == (1, {})


async def test_an_open_step_that_a_deploy_would_break_is_named(
    client, open_step, step_id, monkeypatch
):
    monkeypatch.setattr(workflows.settling, "next_move", lambda record, now: Wait(None))
    count, broken = await replay(client, more=open_step, limit=10)
    assert count == 1
    assert "TMPRL1100" in broken[step_id]
