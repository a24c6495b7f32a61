"""Waiting on a condition, with a deadline and a word about what was waited for."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def eventually(what: Callable[[], Awaitable[T]], *, within: float = 20.0) -> T:
    """The first true answer of `what`; an AssertionError with the last answer after `within` s."""
    deadline = time.monotonic() + within
    while True:
        answer = await what()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"not within {within} s; the last answer: {answer!r}"
        await asyncio.sleep(0.02)
