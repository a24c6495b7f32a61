"""What a human said holds until it expires, also where it was taken and waits to be carried out."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from surestep import ApprovalRule, State, Surestep
from surestep.record import Record
from surestep.tool import Tools
from tests.saying import signal
from tests.steps import facts, tools
from tests.steps.acting import acting_worker, deciding_worker
from tests.steps.operators import LIMIT, charge
from tests.waiting import eventually

HOLDS = timedelta(seconds=2)
LAPSED = "was not carried out: it expired before it could be"


def soon(holds: timedelta = HOLDS) -> str:
    return (datetime.now(UTC) + holds).isoformat()


async def _told(surestep: Surestep, step_id: str, words: str, name: str | None = None) -> bool:
    record = await facts.record(surestep, step_id, name)
    return record is not None and words in facts.told(record)


async def _asked_again(surestep: Surestep, step_id: str) -> Record | None:
    record = await facts.record(surestep, step_id)
    return record if record and LAPSED in facts.told(record) and record.asked else None


async def test_what_expires_while_it_waits_for_its_look_is_not_obeyed(working, world, step_id):
    """The lookup is down until nothing of what was said holds any more; then it sees nothing.

    A word that it happened waits for one look, which takes longer than the word holds.
    """
    lookups = {"retry": "error:503", "abandon": "error:503", "confirm": "hang"}
    steps = {verdict: f"{step_id}/{verdict}" for verdict in lookups}
    async with working(tools.hasty) as surestep:
        for verdict, one in steps.items():
            down = [lookups[verdict]] * 1000
            await world.fault(f"{one}/*", write=["never_arrives"], lookup=down)
            await surestep.start(one, charge(tools.hasty))
        for verdict, one in steps.items():
            await facts.parked(surestep, one)
            holds = timedelta(seconds=1) if verdict == "confirm" else HOLDS
            await signal(surestep.client, one, verdict, expires=soon(holds))
        for verdict, one in steps.items():
            record = await eventually(lambda one=one: _asked_again(surestep, one))
            assert (record.state, record.decision) == (State.UNKNOWN, None)
            words = f"the decision of Ada to {verdict} {LAPSED}"
            assert words in facts.told(record)
            assert record.looks.count > 0
            await world.fault(f"{one}/*", lookup=[])
        assert await world.count(f"{step_id}/*") == 0
        assert len(await facts.posts(world, f"{step_id}/*")) == len(steps)
        await signal(surestep.client, steps["retry"], "retry")
        outcome = await surestep.handle(steps["retry"]).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert await world.count(f"{steps['retry']}/*") == 1


async def test_an_approval_that_expires_before_a_worker_takes_it_is_asked_for_again(
    client, world, step_id
):
    rule = ApprovalRule()
    refund = tools.careful("approved", "keyed", key=tools.KEYED, approval=rule, **tools.PROMPT)
    registry, surestep = Tools(refund), Surestep(client, task_queue=step_id)
    async with deciding_worker(client, registry, step_id):
        await surestep.start(step_id, charge(refund))
        await facts.parked(surestep, step_id)
        await signal(client, step_id, "approve", expires=soon())
        await eventually(lambda: _told(surestep, step_id, "no worker took it in time"))
        record = await facts.parked(surestep, step_id)
        assert "was approved by Ada" in record.asked_why
        async with acting_worker(client, registry, task_queue=step_id):
            await asyncio.sleep(1)
            assert await facts.posts(world, f"{step_id}/*") == []
            await signal(client, step_id, "approve")
            outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


@pytest.mark.parametrize("stands", [False, True], ids=["expired", "in time"])
async def test_an_undo_that_expires_while_its_action_is_under_way_is_not_begun(
    stands, working, world, step_id
):
    key = f"{step_id}/undoable"
    async with working(tools.undoable) as surestep:
        await world.fault(key, write=["expect_kill"])
        await surestep.start(step_id, charge(tools.undoable))
        await facts.applied(world, key)
        await surestep.notice(step_id, key, id=(await world.effects(key))[0].id)
        await eventually(lambda: _told(surestep, step_id, "a notice found it"))
        expires = datetime.now(UTC) + timedelta(seconds=60 if stands else 0.7)
        await signal(surestep.client, step_id, "undo", expires=expires.isoformat())
        await eventually(lambda: _told(surestep, step_id, "Ada decided to undo"))
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    deleted = [one for one in await world.requests(f"{step_id}/*") if one.method == "DELETE"]
    assert len(deleted) == int(stands)
    assert (f"to undo {LAPSED}" in facts.told(outcome)) is not stands
    assert outcome.state is (State.CONFIRMED if not stands else State.COMPENSATED)
