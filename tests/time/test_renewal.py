"""Continue-as-new in the middle of things: nothing that was said or shown is lost."""

import asyncio
from datetime import timedelta

import pytest

import workflows.settling
from surestep import State
from tests.saying import say
from tests.time.service import REQUEST_LOST, Service, tool_for
from tests.waiting import eventually

HOUR = timedelta(hours=1)
NOT_SHOWN = "the board of a run that was continued starts empty, and shows nothing until it learns"
STALE = {"action": "charge", "verdict": "retry", "version": 0}  # refused, recorded, and counted


async def run_ids(clock, step_id):
    """The runs of the step, oldest first."""
    found = []
    described = await clock.client.get_workflow_handle(step_id).describe()
    run_id = described.raw_description.workflow_execution_info.first_run_id
    while run_id:
        found.append(run_id)
        one = clock.client.get_workflow_handle(step_id, run_id=run_id)
        last = (await one.fetch_history()).events[-1]
        run_id = last.workflow_execution_continued_as_new_event_attributes.new_execution_run_id
    return found


@pytest.fixture
async def service():
    return Service([REQUEST_LOST])


@pytest.fixture
async def surestep(dev_clock, step_id, service, monkeypatch):
    """A worker, and a step of its own that is unknown and waits for its next look.

    Its history is renewed at every opportunity, so that its newest run has learned nothing yet.
    """
    monkeypatch.setattr(workflows.settling, "EVENTS_LIMIT", 1)
    charge = tool_for(service)
    async with dev_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"), run="run-1")
        await dev_clock.skip(step_id, timedelta(minutes=2))
        await dev_clock.reaches(step_id, State.UNKNOWN)
        assert len(await run_ids(dev_clock, step_id)) > 2
        yield surestep


@pytest.mark.usefixtures("surestep")
async def test_search_attributes_survive_a_renewal(dev_clock, step_id):
    record = await dev_clock.record(step_id)
    attributes = await dev_clock.attributes(step_id)
    ours = {name: value for name, value in attributes.items() if name.startswith("Surestep")}
    assert ours == {
        "SurestepState": "unknown",
        "SurestepTool": ["charge"],
        "SurestepNeedsHuman": True,
        "SurestepUnknownSince": record.asked,
        "SurestepRun": "run-1",
    }


@pytest.mark.usefixtures("surestep")
async def test_current_details_survive_a_renewal(dev_clock, step_id):
    async def shown():
        return "**unknown**" in await dev_clock.details(step_id)

    await eventually(shown)


async def test_a_sighting_that_is_the_first_news_of_a_run_clears_the_question(
    dev_clock, step_id, surestep, service
):
    service.lands(f"{step_id}/charge", service.looks[0])
    await dev_clock.skip(step_id, 2 * HOUR)
    outcome = await surestep.recall(step_id)
    assert outcome.state is State.CONFIRMED
    attributes = await dev_clock.attributes(step_id)
    assert attributes["SurestepNeedsHuman"] is False
    assert "SurestepUnknownSince" not in attributes


async def test_no_decision_is_lost_while_histories_are_renewed(dev_clock, step_id, surestep):
    """Signals hail down while time races and the history is renewed after every look."""
    handle = dev_clock.client.get_workflow_handle(step_id)
    racing = asyncio.create_task(dev_clock.skip(step_id, 10 * HOUR))
    sent = 0
    while not racing.done() or sent < 40:
        await handle.signal("decide", STALE | {"by": f"n{sent}"})
        sent += 1

    async def all_counted():
        records = await dev_clock.records(step_id)
        return records[0].refused_decisions == sent and records[0]

    seen = await eventually(all_counted)
    assert len(await run_ids(dev_clock, step_id)) > 10
    told = {"verdict": "confirm", "by": "ann", "receipt_id": "e-7", "version": seen.version}
    await handle.signal("decide", told)
    outcome = await surestep.recall(step_id)
    assert outcome.state is State.CONFIRMED
    assert outcome.worst.receipt.id == "e-7"


async def test_an_update_that_meets_a_renewal_is_answered(dev_clock, step_id, surestep):
    """By the run that took it or by the next one; never by silence, and never twice."""
    racing = asyncio.create_task(dev_clock.skip(step_id, 10 * HOUR))
    rulings = []
    while not racing.done() or len(rulings) < 20:
        rulings.append(await surestep.decide(step_id, "retry", by="bob", version=0))
    assert not any(ruling.taken for ruling in rulings)
    assert all("version 0" in ruling.why for ruling in rulings)
    record = await dev_clock.reaches(step_id, State.UNKNOWN)
    assert record.refused_decisions == len(rulings)


@pytest.mark.parametrize("junk", [STALE, "not a decision"], ids=["stale", "junk"])
async def test_a_flood_of_refused_decisions_renews_the_history_and_the_next_one_is_taken(
    dev_clock, step_id, monkeypatch, junk
):
    """A step without a next look (blind) is woken by nothing but what people send."""
    monkeypatch.setattr(workflows.settling, "EVENTS_LIMIT", 100)
    charge = tool_for(Service([REQUEST_LOST]), looks=False, ask=True)
    handle = dev_clock.client.get_workflow_handle(step_id)
    async with dev_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await dev_clock.reaches(step_id, State.UNKNOWN)
        for _ in range(8):
            await asyncio.gather(*(handle.signal("decide", junk) for _ in range(50)))

        async def renewed():
            return len(await run_ids(dev_clock, step_id)) > 1

        try:
            await eventually(renewed)
        finally:
            ruling = await say(surestep, step_id, "confirm", by="ann")
        assert ruling.taken, ruling.why
        record = (await surestep.recall(step_id)).worst
    assert record.state is State.CONFIRMED


async def test_a_decision_in_the_middle_of_a_flood_is_answered_whatever_run_it_meets(
    dev_clock, step_id, monkeypatch
):
    """The server refuses updates while a step that gets more and more signals renews itself."""
    monkeypatch.setattr(workflows.settling, "EVENTS_LIMIT", 50)
    charge = tool_for(Service([REQUEST_LOST]), looks=False, ask=True)
    handle = dev_clock.client.get_workflow_handle(step_id)
    async with dev_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await dev_clock.reaches(step_id, State.UNKNOWN)
        until = await dev_clock.now(step_id) + timedelta(days=200)
        later = {"verdict": "keep_looking", "by": "bob", "until": until.isoformat()}
        flood = [asyncio.create_task(handle.signal("decide", later)) for _ in range(300)]
        ruling = await say(surestep, step_id, "confirm", by="ann")
        assert ruling.taken, ruling.why
        assert (await surestep.recall(step_id)).state is State.CONFIRMED
        await asyncio.gather(*flood, return_exceptions=True)  # those after the end find nobody
