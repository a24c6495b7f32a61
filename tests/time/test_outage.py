"""A service that cannot be reached for a day: caution must not lose work (R18)."""

import time
from datetime import timedelta
from itertools import pairwise

from surestep import KeySupport, State
from tests.time.service import ANSWERED, REQUEST_LOST, UNREACHABLE, Service, tool_for

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
KEYED = KeySupport(lifetime=3 * HOUR)
# A retry that is due may be under way when the time stops.
DUE = timedelta(minutes=6)


async def test_a_day_of_refused_connections_is_sat_out_without_a_human(test_clock, step_id):
    service = Service([UNREACHABLE])
    charge = tool_for(service)
    async with test_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await test_clock.skip(step_id, DAY)
        record = await test_clock.record(step_id)
        told = "\n".join(f"{line.at} {line.text}" for line in record.log)
        assert record.asked is None, f"asked about an action that was never sent\n{told}"
        service.fates = [ANSWERED]
        await test_clock.skip(step_id, DUE)
        outcome = await surestep.run(step_id, charge(order="o-1"))
    assert outcome.state is State.CONFIRMED
    assert len(service.made) == 1
    assert service.looks == [], "what was never sent needs no look"
    pauses = [later - sooner for sooner, later in pairwise(service.sent_at)]
    assert max(pauses) <= DUE
    assert len(service.requests) < 400
    assert {key for key, _ in service.requests} == {f"{step_id}/charge"}


async def test_refused_connections_do_not_use_up_the_life_of_the_key(test_clock, step_id):
    """Four hours of no connection, then a lost request: a key of three hours is as good as new."""
    service = Service([UNREACHABLE])
    charge = tool_for(service, looks=False, key=KEYED, in_flight=timedelta(minutes=1))
    async with test_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await test_clock.skip(step_id, 4 * HOUR)
        sent_so_far = len(service.requests)
        service.fates = [*[UNREACHABLE] * sent_so_far, REQUEST_LOST, ANSWERED]
        await test_clock.skip(step_id, DUE)
        outcome = await surestep.run(step_id, charge(order="o-1"))
    assert outcome.state is State.CONFIRMED
    assert len(service.made) == 1
    assert len(service.requests) == sent_so_far + 2


class Blocking(Service):
    """Its client blocks the whole worker, so that nobody can cut it off in time."""

    def send(self, key):
        time.sleep(0.4)
        return super().send(key)


async def test_what_is_known_only_after_the_time_is_up_is_known_all_the_same(dev_clock, step_id):
    """Neither the refused connection nor the answer gives a doubt to a service without lookups."""
    service = Blocking([UNREACHABLE, ANSWERED])
    charge = tool_for(service, looks=False, ask=True, timeout=timedelta(seconds=0.3))
    async with dev_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await dev_clock.skip(step_id, HOUR)
        record = await dev_clock.record(step_id)
        assert record.asked is None, record.doubt
        outcome = await surestep.run(step_id, charge(order="o-1"))
    assert outcome.state is State.CONFIRMED
    assert len(service.requests) == 2
