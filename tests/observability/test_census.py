"""The census counts what is open in visibility; here without a worker, so that nothing moves."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.service import RPCError

from surestep import Contract, Effect, Tool, Tools, visibility
from surestep.telemetry import census, meters
from surestep.telemetry.census import Census
from tests.observability.tools import Letter
from tests.waiting import eventually

KEYS = {
    visibility.STATE: SearchAttributeKey.for_keyword,
    visibility.TOOL: SearchAttributeKey.for_keyword_list,
    visibility.NEEDS_HUMAN: SearchAttributeKey.for_bool,
    visibility.UNKNOWN_SINCE: SearchAttributeKey.for_datetime,
    visibility.ANOMALY: SearchAttributeKey.for_keyword_list,
}
HOUR = timedelta(hours=1)
QUEUE = "nobody-works-here"


class Gauges:
    """Keeps what is set, by name and labels."""

    def __init__(self):
        self.values = {}

    def create_gauge_float(self, name):
        return Gauge(name, self.values)


class Gauge:
    def __init__(self, name, values):
        self._name, self._values = name, values

    def set(self, value, labels):
        self._values[(self._name, *labels.values())] = value


@pytest.fixture
async def started(client):
    """Starts steps as visibility shows them; at the end they are gone."""
    handles = []

    async def start(workflow="AgentStep", **known):
        pairs = [
            SearchAttributePair(KEYS[getattr(visibility, name)](getattr(visibility, name)), value)
            for name, value in known.items()
        ]
        name = f"counted/{uuid4().hex}"
        attributes = TypedSearchAttributes(pairs)
        handle = await client.start_workflow(
            workflow, id=name, task_queue=QUEUE, search_attributes=attributes
        )
        handles.append(handle)
        return handle

    yield start
    for handle in handles:
        with suppress(RPCError):  # the test has ended it
            await handle.terminate()

    async def gone():
        return not (await client.count_workflows(f"TaskQueue='{QUEUE}' AND {census.RUNNING}")).count

    await eventually(gone)


def unsure(name, limit):
    tool = Tool(name, Letter, Contract(effect=Effect.READ, overdue_after=limit))

    @tool.execute
    async def _(args, call):
        raise AssertionError

    return tool


async def test_what_waits_is_counted_by_tool_against_the_limit_of_its_contract(client, started):
    patient, hasty, calm = (f"{word}_{uuid4().hex[:8]}" for word in ("patient", "hasty", "calm"))
    since = datetime.now(UTC) - 2 * HOUR
    for tools in ([patient], [hasty], [hasty, "elsewhere"]):
        await started(STATE="unknown", TOOL=tools, NEEDS_HUMAN=True, UNKNOWN_SINCE=since)
    await started(STATE="planned", TOOL=[patient], NEEDS_HUMAN=True, UNKNOWN_SINCE=since - HOUR)
    gauges = Gauges()
    limits = {patient: 4 * HOUR, hasty: HOUR, calm: None}
    counting = Census(client, gauges, Tools(*(unsure(*one) for one in limits.items())))

    async def counted():
        assert await counting.take()
        return gauges.values[meters.OPEN_QUESTIONS, hasty] == 2 and gauges.values

    values = await eventually(counted)
    assert values[meters.OPEN_QUESTIONS, patient] == 2
    assert values[meters.OVERDUE_QUESTIONS, patient] == 0
    assert values[meters.OVERDUE_QUESTIONS, hasty] == 2
    assert values[meters.OVERDUE_QUESTIONS, calm] == 0
    assert 2 * 3600 <= values[meters.OLDEST_UNKNOWN, patient] < 2 * 3600 + 60
    assert 3 * 3600 <= values[meters.OLDEST_QUESTION, patient] < 3 * 3600 + 60
    assert values[meters.OPEN_QUESTIONS, "elsewhere"] >= 1
    assert (meters.UNKNOWN_LIMIT, calm) not in values


async def test_an_anomaly_counts_until_it_is_acknowledged(client, started):
    gauges = Gauges()
    counting = Census(client, gauges, Tools())
    await counting.take()
    before = gauges.values[meters.OPEN_ANOMALIES, "late"]
    await started("LateWatch", ANOMALY=["late"], NEEDS_HUMAN=True, STATE="not_found")

    async def counted():
        await counting.take()
        return gauges.values[meters.OPEN_ANOMALIES, "late"] == before + 1

    await eventually(counted)


async def test_what_is_neither_settled_nor_asked_about_for_long_is_delayed(
    client, started, monkeypatch
):
    monkeypatch.setattr(census, "DELAYED_AFTER", timedelta(0))
    gauges = Gauges()
    counting = Census(client, gauges, Tools())
    await counting.take()
    before = gauges.values[meters.DELAYED_STEPS,]
    await started(STATE="planned", NEEDS_HUMAN=False)
    await started(STATE="planned", NEEDS_HUMAN=True)

    async def counted():
        await counting.take()
        return gauges.values[meters.DELAYED_STEPS,] == before + 1

    await eventually(counted)


async def test_a_step_that_was_ended_from_outside_in_doubt_is_counted(client, started):
    gauges = Gauges()
    counting = Census(client, gauges, Tools())
    await counting.take()
    before = gauges.values[meters.ORPHANED_STEPS,]
    for state in ("unknown", "confirmed"):
        await (await started(STATE=state, NEEDS_HUMAN=False)).terminate()

    async def counted():
        await counting.take()
        return gauges.values[meters.ORPHANED_STEPS,] == before + 1

    await eventually(counted)
