"""So that a service that comes back is not met by everybody at once: looks take turns, per tool."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

LOOKS_AT_ONCE: Final = 10

WAITS: Final = 3.0
"""Seconds. A look whose turn does not come is given up, for its place among the worker's activities
is one that a send may need; the action looks again later, as after every look that failed."""


class NoTurn(Exception):
    """Too many others were looking at this tool's service. Nothing was asked of it."""


class Turnstile:
    """Bounds the looks, and fences, of one worker at the service of each tool.

    at_once     how many may be under way
    per_second  how many may begin in a second; None: as many as there are
    """

    def __init__(self, at_once: int = LOOKS_AT_ONCE, per_second: float | None = None) -> None:
        self._pause = 1 / per_second if per_second else 0.0
        self._free: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(at_once)
        )
        self._next: defaultdict[str, float] = defaultdict(float)

    @asynccontextmanager
    async def turn(self, tool: str) -> AsyncIterator[None]:
        """The body runs in its turn. Raises NoTurn after `WAITS`."""
        now = asyncio.get_running_loop().time
        over_at = now() + WAITS
        begins = max(now(), self._next[tool])
        if begins > over_at:
            raise NoTurn(_why(tool))
        self._next[tool] = begins + self._pause
        try:
            async with asyncio.timeout_at(over_at):
                await self._free[tool].acquire()
        except TimeoutError:
            raise NoTurn(_why(tool)) from None
        try:
            await asyncio.sleep(max(begins - now(), 0.0))
            yield
        finally:
            self._free[tool].release()


def _why(tool: str) -> str:
    return f"this worker has too many looks at the service of {tool} under way; nothing was asked"
