"""The fence before the first byte: a mark that is durable, and refused once the attempt is over.

The mark is an awaited call: `activity.heartbeat()` is neither durable on return nor complete.
Before the mark there is no heartbeat at all, so none can arrive late and overwrite it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from temporalio import activity
from temporalio.client import AsyncActivityCancelledError, AsyncActivityHandle
from temporalio.service import RPCError, RPCStatusCode

from surestep.errors import NotSent
from surestep.protocol import SENDING, SendReport
from surestep.telemetry.meters import FENCES_REFUSED

BEATS_PER_TIMEOUT = 3
WITHOUT_TIMEOUT = timedelta(seconds=10)

# A beat takes milliseconds. One that took longer met a server that was away, and what was given up
# meanwhile was given up for that, not for what became of the worker.
BEAT_TAKES = 1.0  # seconds

AWAY = (
    RPCStatusCode.UNAVAILABLE,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.RESOURCE_EXHAUSTED,
    RPCStatusCode.CANCELLED,  # by a limit of time of the SDK's own
)


async def leave_mark() -> None:
    """Record that sending begins. Raises NotSent where the server refuses: then do not send."""
    try:
        await _handle().heartbeat(SENDING)
    except AsyncActivityCancelledError as error:
        _count_refusal()
        raise NotSent("cancelled or paused before it was sent") from error
    except RPCError as error:
        if error.status in AWAY:
            raise NotSent("the server did not take the mark, so it was not sent") from error
        _count_refusal()
        raise NotSent(f"the attempt was over before it was sent ({error.status.name})") from error


def _count_refusal() -> None:
    activity.metric_meter().create_counter(FENCES_REFUSED).add(1)


async def is_wanted() -> bool:
    """Whether the server still waits for the end of this marked attempt. Raises RPCError."""
    try:
        await _handle().heartbeat(SENDING)
    except AsyncActivityCancelledError:
        return True  # asked to cancel, and waited for
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise
    return True


async def is_completed(report: SendReport) -> bool:
    """Whether the server took the report as the attempt's end. Raises RPCError."""
    try:
        await _handle().complete(report)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise
    return True


class Beats:
    """The heartbeats of a marked attempt, by which it is kept alive."""

    def __init__(self) -> None:
        self._heard = True
        self._asked: float | None = None

    @property
    def unheard(self) -> bool:
        """The server was away: what it gave up meanwhile may still bring its answer."""
        asked = self._asked
        return not self._heard or (asked is not None and _now() - asked > BEAT_TAKES)

    @asynccontextmanager
    async def beating(self, deadline: asyncio.Timeout) -> AsyncIterator[None]:
        """Beat while the body runs; cut it off once the server, which heard them, gave it up."""
        beats = asyncio.create_task(self._beat(deadline))
        try:
            yield
        finally:
            if not deadline.expired():
                deadline.reschedule(None)  # how it ended is known, and must not be lost to it now
            beats.cancel()
            await asyncio.wait([beats])

    async def _beat(self, deadline: asyncio.Timeout) -> None:
        timeout = activity.info().heartbeat_timeout or WITHOUT_TIMEOUT
        while True:
            await asyncio.sleep(timeout.total_seconds() / BEATS_PER_TIMEOUT)
            # The SDK cancels an attempt of whose heartbeats it knows nothing. The mark is stored by
            # now, and this says the same, so it cannot erase it.
            activity.heartbeat(SENDING)
            self._asked = _now()
            try:
                wanted = await is_wanted()
            except Exception:  # a beat that fails says nothing about what was sent
                activity.logger.debug("a heartbeat failed", exc_info=True)
                self._heard = False
                continue
            self._heard = not self.unheard or wanted
            self._asked = None
            if not wanted:
                if self._heard:
                    deadline.reschedule(_now())
                return


def _now() -> float:
    return asyncio.get_running_loop().time()


def _handle() -> AsyncActivityHandle:
    return activity.client().get_async_activity_handle(task_token=activity.info().task_token)
