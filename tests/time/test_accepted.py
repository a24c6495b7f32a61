"""202: the service took the request for later. Nothing is confirmed, and nothing is repeated."""

from datetime import timedelta

from surestep import Advice, State
from tests.saying import say
from tests.time.service import TAKEN, End, Service, tool_for

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


async def test_an_operation_that_completes_in_time_is_confirmed_then(test_clock, step_id):
    service = Service([TAKEN], ends=End.SUCCEEDED, ends_after=2 * HOUR)
    charge = tool_for(service, completes_within=DAY)
    async with test_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        record = await test_clock.reaches(step_id, State.ACCEPTED)
        assert record.accepted
        assert record.accepted.id == "op-1"
        await test_clock.skip(step_id, 1.5 * HOUR)
        record = await test_clock.record(step_id)
        assert record.state is State.ACCEPTED
        assert record.asked is None
        await test_clock.skip(step_id, HOUR)
        outcome = await surestep.run(step_id, charge(order="o-1"))
    assert outcome.state is State.CONFIRMED
    assert len(service.requests) == len(service.made) == 1


async def test_an_operation_that_fails_is_rejected_and_not_created_anew(dev_clock, step_id):
    service = Service([TAKEN], ends=End.FAILED, ends_after=HOUR / 6)
    charge = tool_for(service)
    async with dev_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await dev_clock.reaches(step_id, State.ACCEPTED)
        await dev_clock.skip(step_id, HOUR / 4)
        outcome = await surestep.run(step_id, charge(order="o-1"))
    assert outcome.state is State.REJECTED
    assert outcome.advice is Advice.FIX_AND_RESUBMIT
    assert "card declined" in outcome.worst.why
    assert len(service.requests) == 1


async def test_an_operation_that_the_service_forgot_goes_to_a_human(dev_clock, step_id):
    """Promises about landing do not help: what was accepted is never proven absent by a miss."""
    service = Service([TAKEN], ends=End.PURGED, ends_after=timedelta(minutes=10))
    charge = tool_for(service, in_flight=timedelta(seconds=5), visibility_lag=timedelta(0))
    async with dev_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await dev_clock.reaches(step_id, State.ACCEPTED)
        await dev_clock.skip(step_id, HOUR / 2)
        assert (await dev_clock.record(step_id)).state is State.ACCEPTED
        await dev_clock.skip(step_id, DAY)
        await dev_clock.reaches(step_id, State.UNKNOWN)
        assert (await dev_clock.attributes(step_id))["SurestepNeedsHuman"] is True
        assert len(service.requests) == 1
        ruling = await say(surestep, step_id, "abandon", by="ann")
        assert ruling.taken, ruling.why
        outcome = await surestep.run(step_id, charge(order="o-1"))
    assert outcome.state is State.NOT_FOUND
    assert len(service.requests) == 1


async def test_an_operation_that_takes_a_day_is_asked_about_and_still_settles_itself(
    dev_clock, step_id
):
    service = Service([TAKEN], ends=End.SUCCEEDED, ends_after=DAY)
    charge = tool_for(service)  # completes_within is an hour
    async with dev_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await dev_clock.reaches(step_id, State.ACCEPTED)
        await dev_clock.skip(step_id, 2 * HOUR)
        await dev_clock.reaches(step_id, State.UNKNOWN)
        await dev_clock.skip(step_id, DAY)
        outcome = await surestep.run(step_id, charge(order="o-1"))
        attributes = await dev_clock.attributes(step_id)
    assert outcome.state is State.CONFIRMED
    assert attributes["SurestepNeedsHuman"] is False
    assert "SurestepUnknownSince" not in attributes
    assert len(service.requests) == 1
