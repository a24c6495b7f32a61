"""More stories: steps that wait, for their next try, for what comes before them, for an undo."""

from temporalio.api.enums.v1 import EventType

from surestep import Accepted, Call, NotSent, Receipt, State
from tests.replay import stage
from tests.replay.stage import Order, Stage, breaks, refuses, tool
from tests.replay.stories import story


async def is_not_reached(args: Order, call: Call) -> Receipt | Accepted:
    raise NotSent("not connected")


async def undo_breaks(args: Order, call: Call) -> Receipt:
    raise ConnectionResetError


@story(tool("charge", is_not_reached))
async def planned_and_waits_for_its_next_try(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.until(lambda records: records[0].setbacks >= 2)
    await on.scheduled(EventType.EVENT_TYPE_TIMER_STARTED, count=2)


@story(tool("charge", breaks), tool("post"), tool("ship"))
async def dependents_wait_for_an_unknown(on: Stage) -> None:
    await on.start(tool("charge"), tool("post"), tool("ship"))
    await on.reaches(State.UNKNOWN)


@story(tool("charge", undo=undo_breaks), tool("post", refuses))
async def undo_in_doubt(on: Stage) -> None:
    await on.start(tool("charge"), tool("post"), undo_on_failure=True)
    await on.reaches(State.UNKNOWN)


@story(tool("charge"), works=False)
async def cancelled_while_no_worker_takes_it(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.scheduled(EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)
    await on.client.get_workflow_handle(on.step_id).cancel()
    await on.until(lambda records: records[0].stop)


@story(tool("charge", undo=stage.answers), tool("post", breaks, stage.is_down))
async def what_is_to_be_undone_waits_for_an_unknown(on: Stage) -> None:
    await on.start(tool("charge"), tool("post"), undo_on_failure=True)
    await on.until(lambda records: records[1].state is State.UNKNOWN)
