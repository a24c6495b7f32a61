"""What an operator's pause or reset of an activity does to a request that is under way: nothing.

Both buttons cancel the attempt in its worker, and the server still takes its report. Cut off, the
request would be in doubt for no good: it has left, and its answer is on its way.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from temporalio import activity

T = TypeVar("T")


async def undeterred(exchange: Coroutine[Any, Any, T], unheard: Callable[[], bool]) -> T:
    """The end of the exchange, to which every other cancellation is passed on.

    unheard  the server was away, so that the attempt was given up for nothing that became of it

    Its deadline is its own affair: one that came through here would come a moment too late.
    """
    work = asyncio.create_task(exchange)
    while True:
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            if work.done():
                if work.cancelled():
                    raise
                return work.result()  # the end and the cancellation came together
            shut_down = activity.is_worker_shutdown()
            if pressed() is None and (shut_down or not unheard()):
                work.cancel()


def pressed() -> str | None:
    """The button that cancelled this attempt, in words; None: it was something else."""
    details = activity.cancellation_details()
    if details is None or activity.is_worker_shutdown() or details.worker_shutdown:
        return None
    if details.cancel_requested or details.not_found or details.timed_out:
        return None
    if details.paused:
        return "an operator paused the activity"
    return "an operator reset the activity" if details.reset else None
