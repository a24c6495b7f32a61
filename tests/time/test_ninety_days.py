"""Three months of not knowing: cheap for the server, bearable for the service, and decidable."""

from datetime import timedelta
from itertools import pairwise

import pytest

import surestep.agenda
import workflows.settling
from surestep import State
from tests.time.service import REQUEST_LOST, Service, tool_for

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


async def size(clock, step_id):
    """Events and bytes of the newest run."""
    history = await clock.client.get_workflow_handle(step_id).fetch_history()
    return len(history.events), sum(event.ByteSize() for event in history.events)


async def test_three_days_of_not_knowing_fit_into_one_short_history(test_clock, step_id):
    """The product as it is: what one run holds, and how often the service is looked at."""
    service = Service([REQUEST_LOST])
    charge = tool_for(service)  # naive: no key, nothing promised, a miss is called not_found
    async with test_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await test_clock.skip(step_id, 3 * DAY)
        record = await test_clock.reaches(step_id, State.UNKNOWN)
        events, octets = await size(test_clock, step_id)
    pauses = [later - sooner for sooner, later in pairwise(service.looks)]
    growing = [pause for pause in pauses if pause < HOUR]
    assert all(later > sooner for sooner, later in pairwise(growing)), "looks must grow rarer"
    assert max(pauses) <= 4 * HOUR, "the longest pause is a twentieth of the doubt's age"
    assert len(service.looks) <= 90, f"{len(service.looks)} looks in three days"
    assert events <= 1000, f"{events} events"
    assert octets <= 150_000, f"{octets} bytes"
    assert len(record.model_dump_json()) <= 10_000
    assert len(service.requests) == 1


@pytest.fixture
def _quick_look_back(monkeypatch):
    """A look a day after the first day: ninety simulated days pass in seconds of ours."""
    monkeypatch.setattr(surestep.agenda, "LOOK_CAP", DAY)


@pytest.mark.usefixtures("_quick_look_back")
async def test_after_ninety_days_and_several_runs_a_decision_settles_it(
    test_clock, step_id, monkeypatch
):
    monkeypatch.setattr(workflows.settling, "EVENTS_LIMIT", 300)
    service = Service([REQUEST_LOST])
    charge = tool_for(service)
    async with test_clock.working(charge) as surestep:
        handle = await surestep.start(step_id, charge(order="o-1"))
        first = (await handle.describe()).run_id
        await test_clock.skip(step_id, 90 * DAY)
        record = await test_clock.reaches(step_id, State.UNKNOWN)
        events, octets = await size(test_clock, step_id)
        ruling = await surestep.decide(
            step_id, "confirm", by="ann", receipt_id="e-7", version=record.version
        )
        assert ruling.taken, ruling.why
        outcome = await surestep.run(step_id, charge(order="o-1"))
        last = (await handle.describe()).run_id
    assert outcome.state is State.CONFIRMED
    assert outcome.worst.receipt.id == "e-7"
    assert first != last, "the history was never renewed"
    assert record.looks.at - record.asked > 88 * DAY
    assert len(service.requests) == 1
    assert events <= 320, f"{events} events"
    assert octets <= 150_000, f"{octets} bytes"


@pytest.mark.usefixtures("_quick_look_back")
async def test_after_ninety_days_a_late_sighting_settles_it_without_a_human(test_clock, step_id):
    service = Service([REQUEST_LOST])
    charge = tool_for(service)
    async with test_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await test_clock.skip(step_id, 90 * DAY)
        await test_clock.reaches(step_id, State.UNKNOWN)
        service.lands(f"{step_id}/charge", await test_clock.now(step_id))
        await test_clock.skip(step_id, DAY)
        outcome = await surestep.run(step_id, charge(order="o-1"))
    assert outcome.state is State.CONFIRMED
    assert len(service.requests) == 1
