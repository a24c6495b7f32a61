"""Waiting for a condition, with a deadline that says what was expected."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, TypeVar

from surestep.errors import SurestepError

POLL_EVERY: Final = timedelta(seconds=0.1)

T = TypeVar("T")


class Missed(SurestepError):
    """What the demo expected did not come in time."""


async def until(expected: str, ask: Callable[[], Awaitable[T | None]], *, within: timedelta) -> T:
    """Ask until the answer is neither None nor False. Raises Missed."""
    deadline = time.monotonic() + within.total_seconds()
    while True:
        answer = await ask()
        if answer is not None and answer is not False:
            return answer
        if time.monotonic() >= deadline:
            raise Missed(f"expected within {within.total_seconds():g} s: {expected}")
        await asyncio.sleep(POLL_EVERY.total_seconds())
