"""When a decision was received: by the server's clock, whenever a worker gets round to it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.examine import NEWEST_EVENTS, Examiner
from surestep.authority import Authority
from surestep.questions import Examined
from tests.waiting import eventually

from .desk import Desk
from .people import authority, decision, signed

SAID = decision("confirm", by="Ada").model_dump(mode="json", exclude_none=True)
OTHER = decision("confirm", by="Bob").model_dump(mode="json", exclude_none=True)


@pytest.fixture
async def desk(client: Client, step_id: str) -> WorkflowHandle:
    """A desk at which nobody works yet."""
    return await client.start_workflow(Desk.run, id=step_id, task_queue=step_id)


Open = Callable[..., AbstractAsyncContextManager[None]]


@pytest.fixture
def opened(client: Client, step_id: str) -> Open:
    @asynccontextmanager
    async def open_desk(rules: Authority | None = None) -> AsyncIterator[None]:
        async with Worker(
            client,
            task_queue=step_id,
            workflows=[Desk],
            activities=[Examiner(rules, client).examine],
            workflow_runner=UnsandboxedWorkflowRunner(),
        ):
            yield

    return open_desk


async def received(desk: WorkflowHandle) -> list[datetime]:
    """When the server received each signal `decide` of the newest run."""
    return [
        event.event_time.ToDatetime(UTC)
        async for event in desk.fetch_history_events()
        if event.workflow_execution_signaled_event_attributes.signal_name == "decide"
    ]


async def answers(desk: WorkflowHandle) -> list[Examined]:
    await desk.signal(Desk.tell, "end")
    found: list[Examined] = await desk.result()
    return found


async def recorded(desk: WorkflowHandle, number: int) -> None:
    """Waits until so many examinations are in the history."""

    async def are_there() -> bool:
        history = await desk.fetch_history()
        markers = [one.event_type == EventType.EVENT_TYPE_MARKER_RECORDED for one in history.events]
        return sum(markers) >= number

    await eventually(are_there)


async def test_a_signal_counts_from_when_the_server_received_it(desk, opened):
    await desk.signal("decide", OTHER)
    await desk.signal("decide", SAID)
    times = await received(desk)
    async with opened():
        found = await answers(desk)
    assert [one.at for one in found] == times
    assert all(one.now > one.at for one in found)
    assert all((one.by, one.objection, one.needs_another) == (None, None, False) for one in found)


async def test_of_a_double_click_while_no_worker_is_up_the_first_counts(desk, opened):
    for _ in range(2):
        await desk.signal("decide", SAID)
    first, second = await received(desk)
    async with opened():
        found = await answers(desk)
    assert first < second
    assert [one.at for one in found] == [first, first]


async def test_the_same_words_said_again_later_are_not_as_old_as_the_first(desk, opened):
    async with opened():
        for number in (1, 2, 3):
            await desk.signal("decide", SAID)
            await recorded(desk, number)
        times = await received(desk)
        assert [one.at for one in await answers(desk)] == times


async def test_junk_around_a_decision_hides_nothing(desk, opened):
    junk = ([], [SAID, SAID], ["junk"], [None], [b"\xff\xfe"], [{"verdict": "retry!"}], [7], [[]])
    for args in junk:
        await desk.signal("decide", args=args)
    await desk.signal("decide", json.dumps(SAID))
    for args in junk:
        await desk.signal("decide", args=args)
    await desk.signal("other", SAID)
    times = await received(desk)
    async with opened():
        (found,) = await answers(desk)
    assert found.at == times[len(junk)]


async def test_a_signal_to_the_run_after_a_renewal_is_found_in_that_run(desk, opened):
    async with opened():
        await desk.signal("decide", SAID)
        await recorded(desk, 1)
        run = (await desk.describe()).run_id
        await desk.signal(Desk.tell, "renew")

        async def renewed():
            return (await desk.describe()).run_id != run

        await eventually(renewed)
        await desk.signal("decide", SAID)
        await recorded(desk, 1)
        times = await received(desk)
        (found,) = await answers(desk)
    assert [found.at] == times


async def test_what_hundreds_of_messages_have_buried_counts_as_received_now(desk, opened):
    await desk.signal("decide", SAID)
    for _ in range(0, NEWEST_EVENTS, 50):
        await asyncio.gather(*(desk.signal("other", "x") for _ in range(50)))
    async with opened():
        (found,) = await answers(desk)
    assert found.at == found.now


async def test_an_update_is_received_when_it_is_examined(desk, opened):
    before = datetime.now(UTC)
    async with opened():
        found = await desk.execute_update("decide", SAID, result_type=Examined)
        await answers(desk)
    assert found.at == found.now
    assert before <= found.at <= datetime.now(UTC)


async def test_a_signed_decision_that_came_in_time_may_be_examined_after_its_expiry(desk, opened):
    expires = datetime.now(UTC) + timedelta(seconds=3)
    told = signed("Ada", decision(made_at=datetime.now(UTC), expires=expires))
    await desk.signal("decide", told)
    assert (await received(desk))[0] < expires

    async def is_over():
        return datetime.now(UTC) > expires

    await eventually(is_over)
    await desk.signal("decide", told.model_copy(update={"note": "changed"}))
    late = signed("Ada", decision(made_at=datetime.now(UTC), expires=expires, id="d-2"))
    await desk.signal("decide", late)
    async with opened(authority("Ada")):
        in_time, changed, too_late = await answers(desk)
    assert (in_time.by, in_time.objection) == ("Ada", None)
    assert changed.by is None
    assert "forged" in changed.objection
    assert "it expired" in too_late.objection
