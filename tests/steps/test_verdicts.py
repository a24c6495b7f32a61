"""What else humans say about steps, open and ended: look on, leave it, undo it; and anomalies."""

from datetime import UTC, datetime, timedelta

import pytest

from surestep import Advice, InvalidArguments, NoSuchStep, NothingToUndo, State, Surestep
from surestep.operators import ORPHANED
from tests.saying import say
from tests.steps import facts, tools
from tests.steps.operators import LIMIT, charge
from tests.waiting import eventually


async def unknown(surestep: Surestep, world, step_id: str, tool=tools.blind) -> None:
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    await surestep.start(step_id, charge(tool))
    await facts.parked(surestep, step_id)


async def test_keep_looking_takes_the_question_away_until_its_time(working, world, step_id):
    async with working(tools.blind) as surestep:
        await unknown(surestep, world, step_id)
        until = datetime.now(UTC) + timedelta(seconds=3)
        ruling = await surestep.decide(step_id, "keep_looking", until=until, by="Ada")
        assert ruling.taken, ruling.why
        assert "a human is asked again" in ruling.why
        record = await facts.record(surestep, step_id)
        assert record
        assert record.state is State.UNKNOWN
        assert record.asked is None
        again = await facts.parked(surestep, step_id)
    assert again.asked >= until


async def test_what_nobody_will_know_ends_the_step_and_is_listened_for(working, world, step_id):
    async with working(tools.blind) as surestep:
        await unknown(surestep, world, step_id)
        assert (await say(surestep, step_id, "leave_unknown", by="Ada")).taken
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
        assert outcome.state is State.UNKNOWN
        assert outcome.advice is Advice.STOP
        assert "will not be known" in outcome.for_model()
        assert await world.count(f"{step_id}/*") == 1
        await eventually(lambda: surestep.notice(step_id, f"{step_id}/blind", id="ef_1"))
        (found,) = await eventually(lambda: _anomalies(surestep, step_id))
        assert found.anomalies == ("late",)
        assert found.watch_id
        await surestep.acknowledge(found.watch_id)
        await eventually(lambda: _nothing_open(surestep, step_id))


async def _anomalies(surestep: Surestep, step_id: str):
    return [one for one in await surestep.anomalies() if one.step_id == step_id]


async def _nothing_open(surestep: Surestep, step_id: str) -> bool:
    return not await _anomalies(surestep, step_id)


async def test_a_step_that_waits_for_a_human_undoes_what_another_wants_undone(
    working, world, step_id
):
    async with working(tools.undoable, tools.blind) as surestep:
        await world.fault(f"{step_id}/blind", write=["reply_lost"])
        actions = (charge(tools.undoable), charge(tools.blind))
        await surestep.start(step_id, *actions, mode="parallel")
        await eventually(lambda: _is(surestep, step_id, "undoable", State.CONFIRMED))
        ruling = await surestep.undo(f"{step_id}/undoable", by="Ada")
        assert ruling.taken, ruling.why
        await eventually(lambda: _is(surestep, step_id, "undoable", State.COMPENSATED))
        again = await surestep.undo(f"{step_id}/undoable", by="Ada")
        assert not again.taken
        await say(surestep, f"{step_id}/blind", "confirm", by="Ada")
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome["undoable"].state is State.COMPENSATED
    assert "Ada decided to undo" in facts.told(outcome)
    assert len([one for one in await world.requests(f"{step_id}/*") if one.method == "DELETE"]) == 1


async def _is(surestep: Surestep, step_id: str, name: str, state: State) -> bool:
    record = await facts.record(surestep, step_id, name)
    return record is not None and record.state is state


async def test_an_ended_step_is_undone_once_however_often_it_is_asked_for(working, world, step_id):
    async with working(tools.undoable) as surestep:
        await surestep.run(step_id, charge(tools.undoable))
        first = await surestep.undo(step_id, by="Ada", note="wrong customer")
        second = await surestep.undo(f"{step_id}/undoable", by="Bob", note="wrong customer")
        assert first.step_id == second.step_id == f"{step_id}/undoable/undo"
        outcome = await first.outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert outcome.actions[0].action_id == f"{step_id}/undoable/undo"
    assert len([one for one in await world.requests(f"{step_id}/*") if one.method == "DELETE"]) == 1


async def test_what_is_not_confirmed_is_not_undone(working, world, step_id):
    async with working(tools.undoable) as surestep:
        await world.fault(f"{step_id}/*", write=["refuse:422"])
        await surestep.run(step_id, charge(tools.undoable))
        with pytest.raises(NothingToUndo, match="rejected"):
            await surestep.undo(step_id)
        with pytest.raises(InvalidArguments, match="name one"):
            await surestep.undo(f"{step_id}/other")
        with pytest.raises(NoSuchStep):
            await surestep.undo("test/nowhere")


async def test_a_step_of_several_actions_must_be_told_which_to_undo(working, step_id):
    async with working(tools.undoable, tools.keyed) as surestep:
        await surestep.run(step_id, charge(tools.undoable), charge(tools.keyed))
        with pytest.raises(InvalidArguments, match="name one"):
            await surestep.undo(step_id)


async def test_a_step_ended_from_outside_in_doubt_is_an_orphan_until_it_is_taken_up_again(
    working, world, step_id
):
    async with working(tools.blind) as surestep:
        await unknown(surestep, world, step_id)
        await surestep.client.get_workflow_handle(step_id).terminate("a mistake")
        (orphan,) = await eventually(lambda: _anomalies(surestep, step_id))
        assert orphan.anomalies == (ORPHANED,)
        await surestep.start(step_id, charge(tools.blind))
        await eventually(lambda: _nothing_open(surestep, step_id))
        await facts.parked(surestep, step_id)
    assert await world.count(f"{step_id}/*") == 1
