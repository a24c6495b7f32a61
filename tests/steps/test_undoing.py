"""Undoing meets what goes on at the same time: a request under way, a duplicate, the end."""

import asyncio

import pytest

from surestep import NothingToUndo, State, Surestep
from surestep.decision import Verdict
from surestep.testing import World
from tests.saying import say
from tests.steps import facts, tools
from tests.steps.operators import LIMIT, charge
from tests.waiting import eventually


async def _deletions(world: World, key: str) -> int:
    return len([one for one in await world.requests(key) if one.method == "DELETE"])


async def _told(surestep: Surestep, step_id: str, name: str, words: str) -> bool:
    record = await facts.record(surestep, step_id, name)
    return record is not None and words in facts.told(record)


async def test_what_is_still_under_way_is_undone_only_when_it_has_ended(working, world, step_id):
    key = f"{step_id}/undoable"
    async with working(tools.undoable) as surestep:
        await world.fault(key, write=["slow:1"])
        await surestep.start(step_id, charge(tools.undoable))
        await facts.arrived(world, key)
        await surestep.notice(step_id, key, id=(await world.effects(key))[0].id)
        await eventually(lambda: _told(surestep, step_id, "undoable", "a notice found it"))
        assert (await surestep.undo(step_id, by="Ada")).taken
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome["undoable"].state is State.COMPENSATED, facts.told(outcome)
    lines = facts.told(outcome["undoable"])
    undo = outcome["undoable/undo"]
    ended = next(
        one.at for one in outcome["undoable"].evidence if "attempt 1 succeeded" in one.text
    )
    began = next(one.at for one in undo.evidence if "attempt 1 dispatched" in one.text)
    assert began >= ended, lines


async def test_an_undo_that_became_impossible_while_it_waited_is_not_begun(working, world, step_id):
    key = f"{step_id}/undoable"
    async with working(tools.undoable) as surestep:
        await world.fault(key, write=["slow:1"])
        await surestep.start(step_id, charge(tools.undoable))
        await facts.arrived(world, key)
        await surestep.notice(step_id, key, id=(await world.effects(key))[0].id)
        await eventually(lambda: _told(surestep, step_id, "undoable", "a notice found it"))
        assert (await surestep.undo(step_id, by="Ada")).taken
        await surestep.notice(step_id, key, id="ef_another")
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert outcome["undoable"].anomalies
    assert await _deletions(world, f"{step_id}/*") == 0


async def _parked(surestep: Surestep, step_id: str) -> bool:
    record = await facts.record(surestep, step_id, "blind")
    return record is not None and record.asked is not None


async def test_an_undo_that_was_taken_is_done_however_near_the_end(working, world, step_id):
    async with working(tools.undoable, tools.blind) as surestep:
        await world.fault(f"{step_id}/blind", write=["reply_lost"])
        actions = (charge(tools.undoable), charge(tools.blind))
        await surestep.start(step_id, *actions, mode="parallel")
        await eventually(lambda: _parked(surestep, step_id))
        await eventually(lambda: _told(surestep, step_id, "undoable", "ended confirmed"))

        async def undo(after: float) -> bool:
            await asyncio.sleep(after)
            said = await surestep.decide(f"{step_id}/undoable", Verdict.UNDO, by="Ada")
            return said.taken

        left = say(surestep, f"{step_id}/blind", Verdict.LEAVE_UNKNOWN, by="Bob")
        _, *taken = await asyncio.gather(left, *(undo(0.002 * n) for n in range(4, 14)))
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    undone = outcome["undoable"].state is State.COMPENSATED
    assert undone is any(taken), facts.told(outcome)


async def test_an_undo_that_may_have_left_is_not_sent_again_by_asking_once_more(
    working, world, step_id
):
    name = "undone_blindly"
    async with working(tools.undone_blindly, tools.blind) as surestep:
        await world.fault(f"{step_id}/{name}/undo", write=["reply_lost"])
        await world.fault(f"{step_id}/blind", write=["reply_lost"])
        actions = (charge(tools.undone_blindly), charge(tools.blind))
        await surestep.start(step_id, *actions, mode="parallel")
        await eventually(lambda: _told(surestep, step_id, name, "ended confirmed"))
        assert (await surestep.undo(f"{step_id}/{name}", by="Ada")).taken
        for one in (f"{name}/undo", "blind"):
            await eventually(lambda one=one: _told(surestep, step_id, one, "a human is asked"))
            said = await say(surestep, f"{step_id}/{one}", "leave_unknown", by="Ada")
            assert said.taken, said.why
        await surestep.handle(step_id).outcome(within=LIMIT)
        again = await surestep.undo(f"{step_id}/{name}", by="Ada")
        record = await facts.parked(surestep, again.step_id)
    assert "may have been sent before" in facts.told(record)
    assert await _deletions(world, f"{step_id}/*") == 1


async def test_what_its_step_has_undone_is_not_undone_again(working, world, step_id):
    async with working(tools.undoable, tools.blind) as surestep:
        await world.fault(f"{step_id}/blind", write=["reply_lost"])
        actions = (charge(tools.undoable), charge(tools.blind))
        await surestep.start(step_id, *actions, mode="parallel")
        await eventually(lambda: _told(surestep, step_id, "undoable", "ended confirmed"))
        assert (await surestep.undo(f"{step_id}/undoable", by="Ada")).taken
        await eventually(lambda: _told(surestep, step_id, "undoable", "undone"))
        await eventually(lambda: _parked(surestep, step_id))
        await say(surestep, f"{step_id}/blind", "leave_unknown", by="Ada")
        await surestep.handle(step_id).outcome(within=LIMIT)
        with pytest.raises(NothingToUndo, match="already"):
            await surestep.undo(f"{step_id}/undoable", by="Bob")
    assert await _deletions(world, f"{step_id}/*") == 1


async def test_an_undo_in_doubt_keeps_no_other_waiting(working, world, step_id):
    names = ("undone_blindly", "undoable")
    async with working(tools.undone_blindly, tools.undoable, tools.blind) as surestep:
        await world.fault(f"{step_id}/undone_blindly/undo", write=["reply_lost"])
        await world.fault(f"{step_id}/blind", write=["reply_lost"])
        given = (tools.undone_blindly, tools.undoable, tools.blind)
        await surestep.start(step_id, *(charge(one) for one in given), mode="parallel")
        for name in names:
            await eventually(lambda name=name: _told(surestep, step_id, name, "ended confirmed"))
            assert (await surestep.undo(f"{step_id}/{name}", by="Ada")).taken
        await eventually(lambda: _told(surestep, step_id, "undoable", "undone"))
        stuck = await facts.record(surestep, step_id, "undone_blindly/undo")
    assert stuck
    assert stuck.closed is None
