"""The life of a key: until when the same key may be sent again, and what happens after it."""

from datetime import timedelta

import pytest

from surestep import KeySupport, State
from tests.saying import say
from tests.time.service import ANSWERED, REPLY_LOST, REQUEST_LOST, UNREACHABLE, Service, tool_for

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
KEYED = KeySupport(lifetime=DAY)


async def test_without_a_promise_about_landing_half_the_life_of_the_key_is_the_gate(
    test_clock, step_id
):
    """Every request is lost: none leaves after the gate, and a human is asked."""
    service = Service([REQUEST_LOST], remembers=DAY)
    charge = tool_for(service, looks=False, key=KEYED, sends=1000)
    async with test_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await test_clock.skip(step_id, 13 * HOUR)
        record = await test_clock.reaches(step_id, State.UNKNOWN)
        sent = len(service.requests)
        await test_clock.skip(step_id, 30 * DAY)
        assert len(service.requests) == sent
        assert (await test_clock.record(step_id)).state is State.UNKNOWN
        await surestep.decide(step_id, "confirm", by="ann", version=record.version)
        outcome = await surestep.run(step_id, charge(order="o-1"))
    assert outcome.state is State.CONFIRMED
    first, last = service.sent_at[0], service.sent_at[-1]
    assert last - first < DAY / 2
    assert sent > 100, "the key was alive, and the request was not repeated"
    assert {key for key, _ in service.requests} == {f"{step_id}/charge"}


async def test_an_outage_that_outlasts_the_key_ends_in_a_question_not_in_a_send(
    test_clock, step_id
):
    """The first request may have landed; when the service is back, it has forgotten the key."""
    service = Service([REQUEST_LOST, UNREACHABLE])
    short = KeySupport(lifetime=3 * HOUR)
    charge = tool_for(service, looks=False, key=short, in_flight=HOUR / 2)
    async with test_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await test_clock.skip(step_id, 3 * HOUR)
        service.fates = [ANSWERED]
        await test_clock.skip(step_id, DAY)
        await test_clock.reaches(step_id, State.UNKNOWN)
    assert service.made == []
    assert timedelta(hours=2) < service.sent_at[-1] - service.sent_at[0] < timedelta(hours=2.5)


@pytest.mark.parametrize("exists", [True, False], ids=["it happened", "it did not happen"])
async def test_a_retry_decided_after_the_life_of_the_key_looks_first(test_clock, step_id, exists):
    service = Service([REPLY_LOST if exists else REQUEST_LOST, ANSWERED], remembers=DAY)
    service.lookup_works = False
    charge = tool_for(service, key=KEYED, sends=1)
    async with test_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await test_clock.skip(step_id, 3 * DAY)
        record = await test_clock.reaches(step_id, State.UNKNOWN)
        service.lookup_works = True
        looks = len(service.looks)
        ruling = await surestep.decide(step_id, "retry", by="ann", version=record.version)
        assert ruling.taken, ruling.why
        outcome = await surestep.run(step_id, charge(order="o-1"))
    assert outcome.state is State.CONFIRMED
    assert len(service.made) == 1
    assert len(service.looks) > looks, "obeyed without a look"
    assert len(service.requests) == (1 if exists else 2)


async def test_a_retry_decided_while_the_lookup_is_down_waits_for_it(test_clock, step_id):
    service = Service([REPLY_LOST, ANSWERED], remembers=DAY)
    service.lookup_works = False
    charge = tool_for(service, key=KEYED, sends=1)
    async with test_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await test_clock.skip(step_id, 3 * DAY)
        await test_clock.reaches(step_id, State.UNKNOWN)
        await say(surestep, step_id, "retry", by="ann")
        await test_clock.skip(step_id, 2 * HOUR)
        assert len(service.requests) == 1, "sent again although nobody could look"
        service.lookup_works = True
        await test_clock.skip(step_id, HOUR)
        outcome = await surestep.run(step_id, charge(order="o-1"))
    assert outcome.state is State.CONFIRMED
    assert len(service.requests) == len(service.made) == 1
