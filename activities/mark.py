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
from surestep.protocol import SENDING

BEATS_PER_TIMEOUT = 3
WITHOUT_TIMEOUT = timedelta(seconds=10)


async def leave_mark() -> None:
    """Record that sending begins. Raises NotSent where the server refuses: then do not send."""
    try:
        await _handle().heartbeat(SENDING)
    except AsyncActivityCancelledError as error:
        raise NotSent("cancelled or paused before it was sent") from error
    except RPCError as error:
        raise NotSent(f"the attempt was over before it was sent ({error.status.name})") from error


@asynccontextmanager
async def beating(deadline: asyncio.Timeout) -> AsyncIterator[None]:
    """Keep the marked attempt alive while the body runs; cut it off once the server gave it up."""
    beats = asyncio.create_task(_beat(deadline))
    try:
        yield
    finally:
        beats.cancel()
        await asyncio.wait([beats])


async def _beat(deadline: asyncio.Timeout) -> None:
    timeout = activity.info().heartbeat_timeout or WITHOUT_TIMEOUT
    while True:
        await asyncio.sleep(timeout.total_seconds() / BEATS_PER_TIMEOUT)
        # The SDK cancels an attempt of whose heartbeats it knows nothing. The mark is stored by
        # now, and this says the same, so it cannot erase it.
        activity.heartbeat(SENDING)
        try:
            await _handle().heartbeat(SENDING)
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                deadline.reschedule(asyncio.get_running_loop().time())
                return
        except Exception:  # a beat that fails says nothing about what was sent
            activity.logger.debug("a heartbeat failed", exc_info=True)


def _handle() -> AsyncActivityHandle:
    return activity.client().get_async_activity_handle(task_token=activity.info().task_token)
