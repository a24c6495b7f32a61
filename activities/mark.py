"""The fence before the first byte: a mark that is durable, and refused once the attempt is over.

Every beat is an awaited call, one at a time. `activity.heartbeat()` is neither durable on return
nor complete, and a late one could overwrite the mark; it is not used anywhere.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from temporalio import activity
from temporalio.client import AsyncActivityCancelledError, AsyncActivityHandle
from temporalio.service import RPCError

from surestep.errors import NotSent
from surestep.protocol import SENDING

LOOKING = "looking"
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
async def beating(mark: str) -> AsyncIterator[None]:
    """Keep the attempt alive while the body runs. The last beat has ended when this returns."""
    done = asyncio.Event()
    beats = asyncio.create_task(_beat(mark, done))
    try:
        yield
    finally:
        done.set()
        # Not cancelled: a beat that is under way must not arrive after the next mark.
        await asyncio.shield(beats)


async def _beat(mark: str, done: asyncio.Event) -> None:
    timeout = activity.info().heartbeat_timeout or WITHOUT_TIMEOUT
    while not done.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(done.wait(), timeout.total_seconds() / BEATS_PER_TIMEOUT)
            return
        # A refused beat changes nothing here: what was sent stays sent, and is reported.
        with suppress(RPCError, AsyncActivityCancelledError):
            await _handle().heartbeat(mark)


def _handle() -> AsyncActivityHandle:
    return activity.client().get_async_activity_handle(task_token=activity.info().task_token)
