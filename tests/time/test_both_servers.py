"""The same stories on the real server and on the time-skipping test server."""

from datetime import timedelta

from surestep import Advice, KeySupport, State
from tests.time.service import ANSWERED, REPLY_LOST, REQUEST_LOST, Service, tool_for

KEYED = KeySupport(lifetime=timedelta(hours=24))
HOUR = timedelta(hours=1)


async def test_an_undisturbed_action_happens_once(clock, step_id):
    service = Service([ANSWERED])
    charge = tool_for(service, key=KEYED, in_flight=timedelta(seconds=2))
    async with clock.working(charge) as surestep:
        outcome = await surestep.run(step_id, charge(order="o-1"))
        again = await surestep.run(step_id, charge(order="o-1"))
    assert outcome.state is State.CONFIRMED
    assert outcome.advice is Advice.DONE
    assert again == outcome
    assert [one.key for one in service.made] == [f"{step_id}/charge"]


async def test_a_lost_reply_is_found_by_a_look(clock, step_id):
    service = Service([REPLY_LOST])
    charge = tool_for(service, in_flight=timedelta(seconds=2), visibility_lag=timedelta(0))
    async with clock.working(charge) as surestep:
        outcome = await surestep.run(step_id, charge(order="o-1"))
    assert outcome.state is State.CONFIRMED
    assert len(service.requests) == len(service.made) == 1


async def test_a_promise_of_hours_is_waited_out_before_the_second_send(clock, step_id):
    service = Service([REQUEST_LOST, ANSWERED])
    charge = tool_for(service, in_flight=5 * HOUR, visibility_lag=1 * HOUR)
    async with clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await clock.reaches(step_id, State.SENT)
        await clock.skip(step_id, 5 * HOUR + timedelta(minutes=50))
        assert len(service.requests) == 1, "sent while the first request could still land"
        await clock.skip(step_id, timedelta(minutes=20))
        outcome = await surestep.run(step_id, charge(order="o-1"))
    assert outcome.state is State.CONFIRMED
    assert len(service.made) == 1
    first, second = service.sent_at
    assert 6 * HOUR <= second - first <= 6 * HOUR + timedelta(minutes=1)
