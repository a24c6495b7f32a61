"""The final word on a run: what it really did, from the records alone."""

import asyncio
import json
from datetime import timedelta

import pytest

from surestep.agents import AgentTools, report, survey
from surestep.agents.deed import Deed, Standing, folded
from tests.agents.calling import REFUND, refund
from tests.saying import say
from tests.steps import facts, tools
from tests.waiting import eventually

seen = tools.careful("seen", "lookup", response_proves=False, **tools.PROMPT)


@pytest.fixture
def run(step_id):
    return step_id


async def test_a_report_says_what_was_done_what_is_open_and_what_was_refused(working, world, run):
    """All in one run, which is read in one go, and from the server alone."""
    await world.fault(f"{run}/keyed/2/*", write=["refuse:422"])
    await world.fault(f"{run}/blind/1/*", write=["reply_lost"])
    await world.fault(f"{run}/blind/2/*", write=["reply_lost"])
    await world.fault(f"{run}/seen/1/*", write=["twice"])
    async with working(tools.keyed, tools.blind, tools.undoable, seen) as surestep:
        agent = AgentTools(surestep, tools.keyed, tools.blind, tools.undoable, seen)

        def call(tool, number):
            return asyncio.create_task(agent.call(tool, refund(number), run=run))

        await asyncio.gather(call("undoable", 0), call("keyed", 1), call("seen", 2))
        await call("keyed", 3)
        lost = call("blind", 4)
        await parked(surestep, f"{run}/blind/1")
        await say(surestep, f"{run}/blind/1", "leave_unknown", by="ops", note="gone")
        await lost
        left = call("blind", 5)
        await parked(surestep, f"{run}/blind/2")
        undo = await surestep.undo(f"{run}/undoable/1/undoable", by="ops", note="no", run=run)
        await undo.outcome()
        found = await report(surestep, run, tools=agent)
        await say(surestep, f"{run}/blind/2", "confirm", by="ops", note="seen")
        await left
        later = await report(surestep, run, tools=agent)
    standings = {one.step_id.removeprefix(f"{run}/"): one.standing for one in found.deeds}
    assert standings == {
        "keyed/1": Standing.DONE,
        "keyed/2": Standing.REFUSED,
        "blind/1": Standing.UNKNOWN,
        "blind/2": Standing.OPEN,
        "undoable/1": Standing.UNDONE,
        "seen/1": Standing.DONE,
    }
    assert [one.tool for one in found.anomalous] == ["seen"]
    assert {one.about for one in found.deeds} == {f"other-{number}" for number in range(6)}
    assert [one.standing for one in later.deeds if one.step_id.endswith("blind/2")] == ["done"]
    text = found.text()
    assert f"keyed other-1: done, id {found.done[0].receipt_id}. Action {run}/keyed/1/keyed" in text
    assert "duplicate" in text
    assert json.loads(found.model_dump_json())["run"] == run


@pytest.mark.parametrize(
    ("undo", "seen_as"),
    [("done", "undone"), ("open", "open"), ("unknown", "unknown"), ("refused", "done")],
)
def test_an_undo_shows_in_what_it_undid(undo, seen_as):
    common = {"step_id": "s", "tool": "refund", "state": ""}
    done = Deed(action_id="s/refund", standing="done", **common)
    undoing = Deed(action_id="s/refund/undo", standing=undo, **common)
    (found,) = folded([done, undoing])
    assert (found.action_id, found.standing) == (done.action_id, seen_as)


async def test_a_report_misses_no_numbered_step_however_new_and_says_what_may_lag(
    working, client, run, monkeypatch
):
    """The server's list is as empty as in the first moment."""
    async with working(tools.keyed) as surestep:
        agent = AgentTools(surestep, tools.keyed)
        await agent.call("keyed", REFUND, run=run)
        await surestep.run(f"{run}-own", tools.keyed(**REFUND), run=run)
        monkeypatch.setattr(client, "list_workflows", nothing_listed)
        found = await report(surestep, run, tools=agent)
        told = await report(surestep, run, tools=agent, steps=[f"{run}-own"])
        monkeypatch.undo()

        async def listed():
            return len((await report(surestep, run)).deeds) == 2

        await eventually(listed)
    assert [one.step_id for one in found.deeds] == [f"{run}/keyed/1"]
    assert "in the last seconds" in found.text()
    assert [one.step_id for one in told.deeds] == [f"{run}/keyed/1", f"{run}-own"]


async def nothing_listed(*_, **__):
    for one in ():
        yield one


async def test_a_report_tells_apart_a_step_that_was_ended_from_outside_and_one_never_taken_up(
    working, world, client, run
):
    await world.fault(f"{run}/ended/*", write=["reply_lost"])
    async with working(tools.blind) as surestep:
        await surestep.start(f"{run}/ended", tools.blind(**REFUND), run=run)
        await parked(surestep, f"{run}/ended")
        await client.get_workflow_handle(f"{run}/ended").terminate()
        await surestep.start(f"{run}/unfit", tools.keyed(**REFUND), run=run)
        await eventually(lambda: closed(surestep, f"{run}/unfit"))
        ids = [f"{run}/ended", f"{run}/unfit"]
        found = await report(surestep, run, steps=ids)
    standings = {one.step_id: (one.standing, one.state) for one in found.deeds}
    assert standings == {ids[0]: ("unknown", "stopped"), ids[1]: ("without effect", "refused")}
    assert found.open[0].may_exist
    assert not found.refused[0].may_exist


async def test_a_report_without_a_worker_says_what_the_server_knows(
    working, client, run, monkeypatch
):
    monkeypatch.setattr(survey, "ANSWERS_WITHIN", timedelta(seconds=0.2))
    async with working(tools.keyed) as surestep:
        await surestep.run(f"{run}/1", tools.keyed(**REFUND), run=run)
    await surestep.start(f"{run}/2", tools.keyed(**REFUND), run=run)
    found = await report(surestep, run, steps=[f"{run}/1", f"{run}/2"])
    await client.get_workflow_handle(f"{run}/2").terminate()
    assert [one.standing for one in found.deeds] == ["done", "open"]
    assert "no worker says how it stands" in found.text()


async def test_a_run_of_which_nothing_is_recorded_is_reported_as_such(working, run):
    odd = f'{run} "quoted" \\ it\'s'
    async with working(tools.keyed) as surestep:
        empty = await report(surestep, odd, tools=["keyed"])
        await AgentTools(surestep, tools.keyed).call("keyed", REFUND, run=odd)
        found = await report(surestep, odd, tools=["keyed"])
    assert "Nothing is recorded." in empty.text()
    assert [one.standing for one in found.deeds] == ["done"]
    assert "cannot be listed for a run of this name" in found.text()


async def parked(surestep, step_id):
    await eventually(lambda: surestep.handle(step_id).exists())
    await facts.parked(surestep, step_id)


async def closed(surestep, step_id):
    return not await surestep.handle(step_id).is_open()
