"""Nothing sleeps after a verdict (R17): effects that land late reach a human."""

from datetime import timedelta

import pytest
from temporalio.client import WorkflowExecutionStatus

from surestep import State
from tests.saying import say
from tests.time.service import REQUEST_LOST, Service, late, tool_for
from tests.waiting import eventually

SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
PROMPT = {"in_flight": 10 * SECOND, "visibility_lag": timedelta(0)}


class Watch:
    """The workflow that goes on watching after a step has ended."""

    def __init__(self, clock, workflow_id):
        self.clock = clock
        self.id = workflow_id
        self.handle = clock.client.get_workflow_handle(workflow_id)

    async def skip(self, time):
        await self.clock.skip(self.id, time)

    async def status(self):
        return (await self.handle.describe()).status

    async def shows(self, name, value):
        async def shown():
            return (await self.clock.attributes(self.id)).get(name) == value

        await eventually(shown)

    async def ended(self):
        async def done():
            return await self.status() is not WorkflowExecutionStatus.RUNNING

        await eventually(done)
        return await self.handle.result()


async def not_found(clock, step_id, charge, surestep):
    """A step whose action is proven absent, as far as the contract's promises go."""
    handle = await surestep.start(step_id, charge(order="o-1"))
    await clock.reaches(step_id, State.SENT)
    await clock.skip(step_id, timedelta(minutes=1))
    outcome = await handle.outcome()
    assert outcome.state is State.NOT_FOUND
    (child,) = await clock.children(step_id)
    return Watch(clock, child)


async def abandoned(clock, step_id, charge, surestep):
    """A step whose action was given up by a human after a fresh look."""
    handle = await surestep.start(step_id, charge(order="o-1"))
    await clock.skip(step_id, timedelta(minutes=2))
    await clock.reaches(step_id, State.UNKNOWN)
    ruling = await say(surestep, step_id, "abandon", by="ann")
    assert ruling.taken, ruling.why
    outcome = await handle.outcome()
    assert outcome.state is State.NOT_FOUND
    (child,) = await clock.children(step_id)
    return Watch(clock, child)


@pytest.mark.parametrize(
    ("ends", "promised", "anomalies"),
    [
        (not_found, PROMPT | {"sends": 1}, ["late"]),
        (abandoned, {}, ["contradicted", "late"]),
    ],
    ids=["not found", "abandoned"],
)
async def test_an_effect_that_lands_two_hours_after_the_verdict_waits_for_a_human(
    dev_clock, step_id, ends, promised, anomalies
):
    service = Service([late(2 * HOUR)])
    charge = tool_for(service, **promised)
    async with dev_clock.working(charge) as surestep:
        watch = await ends(dev_clock, step_id, charge, surestep)
        await watch.skip(1.5 * HOUR)
        assert await watch.status() is WorkflowExecutionStatus.RUNNING
        await watch.skip(3 * HOUR)
        await watch.shows("SurestepNeedsHuman", True)
        await watch.shows("SurestepAnomaly", anomalies)
        await watch.shows("SurestepState", "confirmed")
        assert "**late**" in await dev_clock.details(watch.id)
        await watch.skip(30 * DAY)
        assert await watch.status() is WorkflowExecutionStatus.RUNNING, "nobody took note"
        await watch.handle.signal("acknowledge")
        (record,) = await watch.ended()
    assert [one["kind"] for one in record["anomalies"]] == anomalies
    assert len(service.requests) == 1
    assert len(service.looks) < 25


async def test_a_late_effect_is_in_the_list_of_what_waits_for_a_human(dev_clock, step_id):
    service = Service([late(2 * HOUR)])
    charge = tool_for(service, sends=1, **PROMPT)
    async with dev_clock.working(charge) as surestep:
        watch = await not_found(dev_clock, step_id, charge, surestep)
        await watch.skip(5 * HOUR)
        await watch.shows("SurestepNeedsHuman", True)

        async def listed():
            return [one for one in await surestep.unresolved() if one.step_id.startswith(step_id)]

        (line,) = await eventually(listed)
    assert line.anomalies == ("late",)


async def test_a_watch_without_news_ends_at_its_horizon(dev_clock, step_id):
    service = Service([REQUEST_LOST])
    charge = tool_for(service, sends=1, **PROMPT)
    async with dev_clock.working(charge) as surestep:
        watch = await not_found(dev_clock, step_id, charge, surestep)
        await watch.skip(23 * HOUR)
        assert await watch.status() is WorkflowExecutionStatus.RUNNING
        looks = len(service.looks)
        await watch.skip(2 * HOUR)
        (record,) = await watch.ended()
        attributes = await dev_clock.attributes(watch.id)
    assert record["anomalies"] == []
    assert attributes.get("SurestepNeedsHuman", False) is False
    assert looks < len(service.looks) <= looks + 2, "the last look is at the horizon"
    assert looks < 20
    assert service.looks[-1] - service.sent_at[0] >= DAY


async def test_a_horizon_of_zero_watches_nothing(dev_clock, step_id):
    service = Service([REQUEST_LOST])
    charge = tool_for(service, sends=1, watch=timedelta(0), **PROMPT)
    async with dev_clock.working(charge) as surestep:
        await surestep.start(step_id, charge(order="o-1"))
        await dev_clock.reaches(step_id, State.SENT)
        await dev_clock.skip(step_id, timedelta(minutes=1))
        assert (await surestep.recall(step_id)).state is State.NOT_FOUND
        assert await dev_clock.children(step_id) == []


async def test_one_late_effect_is_shown_while_the_other_action_is_still_watched(dev_clock, step_id):
    late_one, silent = Service([late(2 * HOUR)]), Service([REQUEST_LOST])
    charge = tool_for(late_one, sends=1, **PROMPT)
    other = tool_for(silent, name="other", sends=1, watch=30 * DAY, **PROMPT)
    actions = (charge(order="o-1"), other(order="o-1"))
    async with dev_clock.working(charge, other) as surestep:
        handle = await surestep.start(step_id, *actions, mode="parallel")
        await dev_clock.reaches(step_id, State.SENT)
        await dev_clock.skip(step_id, timedelta(minutes=1))
        await handle.outcome()
        (child,) = await dev_clock.children(step_id)
        watch = Watch(dev_clock, child)
        await watch.skip(5 * HOUR)
        await watch.shows("SurestepAnomaly", ["late"])


async def test_an_acknowledgement_before_there_is_anything_to_know_counts_for_nothing(
    dev_clock, step_id
):
    service = Service([late(2 * HOUR)])
    charge = tool_for(service, sends=1, **PROMPT)
    async with dev_clock.working(charge) as surestep:
        watch = await not_found(dev_clock, step_id, charge, surestep)
        await watch.handle.signal("acknowledge")
        await watch.skip(5 * HOUR)
        assert await watch.status() is WorkflowExecutionStatus.RUNNING
        await watch.shows("SurestepAnomaly", ["late"])


@pytest.mark.parametrize("args", [[], ["x"], [1, 2], [None]], ids=["none", "text", "two", "null"])
async def test_an_acknowledgement_may_carry_anything(dev_clock, step_id, args):
    service = Service([late(HOUR)])
    charge = tool_for(service, sends=1, **PROMPT)
    async with dev_clock.working(charge) as surestep:
        watch = await not_found(dev_clock, step_id, charge, surestep)
        await watch.skip(3 * HOUR)
        await watch.shows("SurestepAnomaly", ["late"])
        await watch.handle.signal("acknowledge", args=args)
        await watch.ended()
