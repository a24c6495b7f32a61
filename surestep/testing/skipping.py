"""Time that passes at once: in a step that waits for nothing but time, and in its world.

The development server gives each step a clock of its own that can be moved. It is not left to move
by itself: a step that waits for a person looks on for ever, so its clock would run away from the
person by weeks per second. Here it is moved from one due moment to the next, while a test waits for
the outcome, and stands still while an attempt is under way or a person is asked.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from temporalio import activity
from temporalio.client import Client, Interceptor, WorkflowExecutionStatus, WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import TimeSkipper, TimeSkippingConfig
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput
from temporalio.worker import Interceptor as WorkerInterceptor

from surestep.client import Surestep
from surestep.errors import SurestepError
from surestep.handle import StepHandle
from surestep.identity import watched_step
from surestep.outcome import StepOutcome
from surestep.policy import Fence, Verify, Wait, next_move
from surestep.record import Record
from surestep.testing.clock import Clock

LOOKS_EVERY: Final = 0.02
"""Seconds between two looks whether there is time to skip."""

SHORTEST: Final = timedelta(milliseconds=100)
"""What is due sooner passes by itself, before a skip could."""


class CannotSkip(SurestepError):
    """The server does not let time be skipped; the message names the remedy."""


class Follower(Interceptor, WorkerInterceptor):
    """Given to a client, its workers tell the clock at each activity what time their step has."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _Telling(next, self._clock)


class _Telling(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, clock: Clock) -> None:
        super().__init__(next)
        self._clock = clock

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        info = activity.info()
        if info.workflow_id and not info.is_local:
            await _follow(self._clock, info.workflow_id, info.started_time)
        return await super().execute_activity(input)


class SkippingSurestep(Surestep):
    """Whoever waits for an outcome does not wait for time."""

    def handle(self, step_id: str) -> StepHandle:
        return _SkippingHandle(self.client, step_id, self.ui_url)


class _SkippingHandle(StepHandle):
    async def outcome(self, *, within: timedelta | None = None) -> StepOutcome:
        waiting = asyncio.create_task(super().outcome(within=within))
        skipping = asyncio.create_task(_pass_time(self.client, self))
        try:
            await asyncio.wait({waiting, skipping}, return_when=asyncio.FIRST_COMPLETED)
            if skipping.done() and not waiting.done():
                skipping.result()  # it ends by itself only where it cannot skip
            return await waiting
        finally:
            for task in (waiting, skipping):
                task.cancel()
            await asyncio.gather(waiting, skipping, return_exceptions=True)


async def skip(client: Client, clock: Clock, step_id: str, time: timedelta) -> None:
    """Lets the time pass in a step, or in its watch once it has ended, and in the world.

    Everything that falls due happens. Raises CannotSkip.
    """
    handle, skipper = client.get_workflow_handle(step_id), _skipper(client)
    if (await handle.describe()).status is not WorkflowExecutionStatus.RUNNING:
        handle = client.get_workflow_handle(await _watch_of(handle))
    now = await skipper.get_current_time(handle)
    until = now + time
    while now < until and (await handle.describe()).status is WorkflowExecutionStatus.RUNNING:
        await _forward(skipper, handle, until - now)
        now = await skipper.get_current_time(handle)
    await _follow(clock, handle.id, now)


async def _pass_time(client: Client, step: StepHandle) -> None:
    """Raises CannotSkip; ends by being cancelled."""
    handle, skipper = client.get_workflow_handle(step.step_id), _skipper(client)
    while True:
        pause: timedelta | None = None
        with suppress(RPCError):  # not begun, ended, between two runs, or without a worker
            pause = idle(await step.records(), await skipper.get_current_time(handle))
        if pause is None:
            await asyncio.sleep(LOOKS_EVERY)
        else:
            await _forward(skipper, handle, pause)


def idle(records: Sequence[Record], now: datetime) -> timedelta | None:
    """How long nothing happens in a step by itself; None: something is about to, or a person is."""
    still_open = [record for record in records if not record.closed]
    if any(record.in_flight or _needs_somebody(record) for record in still_open):
        return None
    due = list[datetime]()
    for record in still_open:
        match next_move(record, now):
            case Verify(at=at) | Fence(at=at) | Wait(until=datetime() as at):
                due.append(at)
            case _:  # of one action after another, those that are not begun
                continue
    pause = min(due) - now if due else timedelta(0)
    return pause if pause > SHORTEST else None


def _needs_somebody(record: Record) -> bool:
    """A person is asked, or has decided, and the lookup that the decision waits for fails."""
    return record.asked is not None and (record.decision is None or record.looks.failures > 0)


async def _watch_of(step: WorkflowHandle[Any, Any]) -> str:
    """The id of the workflow that watches an ended step for late effects."""
    async for event in step.fetch_history_events():
        if event.HasField("child_workflow_execution_started_event_attributes"):
            watch = event.child_workflow_execution_started_event_attributes.workflow_execution
            return watch.workflow_id
    raise CannotSkip(f"step {step.id!r} has ended, and nothing of it is watched")


def _skipper(client: Client) -> TimeSkipper:
    return TimeSkipper(client, config=TimeSkippingConfig(enabled=False))


async def _forward(skipper: TimeSkipper, handle: WorkflowHandle[Any, Any], time: timedelta) -> None:
    try:
        await skipper.fast_forward(handle, time)
    except RuntimeError:  # whoever waits for the same step has moved its clock
        return
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:  # it has ended meanwhile
            return
        if error.status is not RPCStatusCode.UNIMPLEMENTED:
            raise
        raise CannotSkip(
            "this server does not skip time: use surestep_env(…, real_time=True), or a "
            "development server"
        ) from error


async def _follow(clock: Clock, workflow_id: str, its_time: datetime) -> None:
    """A watch goes on in the time of the step that it watches."""
    ahead = (its_time - datetime.now(UTC)).total_seconds()
    await clock.follow(watched_step(workflow_id) or workflow_id, ahead)
