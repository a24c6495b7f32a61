"""Declared tools on a real Temporal server: the world's ledger has the last word."""

import re
from datetime import timedelta

import pytest

from surestep import State
from surestep.http import Service, env
from tests.http import tools
from tests.http.servers import answering
from tests.http.test_credentials import Tokens, wants

LIMIT = timedelta(seconds=40)


async def posts(world, key):
    sent = await world.requests(key)
    return [one for one in sent if one.method == "POST" and one.path.endswith("/effects")]


@pytest.mark.parametrize(
    ("tool", "faults", "state", "effects"),
    [
        (tools.keyed, ["reply_lost"], State.CONFIRMED, 1),
        (tools.keyed, ["never_arrives"], State.CONFIRMED, 1),
        (tools.keyed, ["late_hang:1", "honest"], State.CONFIRMED, 1),
        (tools.keyed, ["redirect:307"], State.CONFIRMED, 1),
        (tools.keyed, ["refuse:422"], State.REJECTED, 0),
        (tools.keyed, ["rate_limited:1", "error_after:500"], State.CONFIRMED, 1),
        (tools.lookup, ["truncated"], State.CONFIRMED, 1),
        (tools.lookup, ["error_before:503"], State.CONFIRMED, 1),
        (tools.queued, ["accepted:1"], State.CONFIRMED, 1),
        (tools.queued, ["accepted_fails:1"], State.REJECTED, 0),
        (tools.fenced, ["never_arrives"], State.CONFIRMED, 1),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else getattr(value, "name", None),
)
async def test_it_happens_once_and_the_record_is_true(
    tool, faults, state, effects, working, at_world, step_id
):
    key = f"{step_id}/{tool.name}"
    await at_world.fault(f"{key}*", write=faults)
    async with working(tool) as surestep:
        outcome = await surestep.run(step_id, tool(order="o-1", cents=2500), within=LIMIT)
    assert outcome.state is state
    assert await at_world.count(f"{key}*") == effects
    assert len({one.sha256 for one in await posts(at_world, key)}) == 1


async def test_a_confirmed_action_is_undone(working, at_world, step_id):
    actions = (
        tools.undoable(order="o-1", cents=1),
        tools.keyed(order="o-1", cents=2),
    )
    await at_world.fault(f"{step_id}/keyed", write=["refuse:422"])
    await at_world.fault(f"{step_id}/undoable/undo", write=["reply_lost"])
    async with working(tools.undoable, tools.keyed) as surestep:
        outcome = await surestep.run(step_id, *actions, undo_on_failure=True, within=LIMIT)
    assert [one.state for one in outcome.actions[:2]] == [State.COMPENSATED, State.REJECTED]
    (effect,) = await at_world.effects(f"{step_id}/*")
    assert effect.status == "voided"


async def test_nobody_is_asked_because_a_token_had_expired(working, at_raw, step_id):
    tool = tools.raw(service=Service(env("SERVICE_URL"), Tokens()))
    async with at_raw(wants("new")) as raw, working(tool) as surestep:
        outcome = await surestep.run(step_id, tool(order="o-1", cents=1), within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert raw.connections == 2


async def test_no_secret_is_in_the_history(working, at_raw, step_id, client):
    tool = tools.raw(service=Service(env("SERVICE_URL"), Tokens("tok-77aa", "tok-88bb")))
    body = b'{"title": "Bearer tok-88bb is bad", "detail": "tok-88bb", "code": "tok-88bb"}'
    refusal = answering("403 tok-88bb", body, "Content-Type: application/problem+json")
    async with at_raw(refusal), working(tool) as surestep:
        outcome = await surestep.run(step_id, tool(order="o-1", cents=1), within=LIMIT)
    assert outcome.state is State.REJECTED
    history = await client.get_workflow_handle(step_id).fetch_history()
    assert not re.search(r"tok-\d\d", history.to_json())
