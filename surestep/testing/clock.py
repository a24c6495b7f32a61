"""The time of a world: the machine's, and whatever a test has skipped."""

import asyncio
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta


class Clock:
    """Seconds like those of `time.monotonic`, until something skips; it never goes back.

    All steps of a test share it: what one of them skips, passes for everything in the world. So no
    step ever waits longer by its own time than the world does, and no promise is broken by that.
    """

    def __init__(self) -> None:
        self._skipped = 0.0
        self._ahead: dict[str, float] = {}
        self._sleepers: dict[asyncio.Event, float] = {}
        self._moving = asyncio.Lock()

    def now(self) -> float:
        return time.monotonic() + self._skipped

    def date(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self._skipped)

    async def sleep(self, seconds: float) -> None:
        """Returns once so much time has passed, or has been skipped."""
        due, woken = self.now() + seconds, asyncio.Event()
        self._sleepers[woken] = due
        try:
            while (left := due - self.now()) > 0:
                with suppress(TimeoutError):
                    async with asyncio.timeout(left):
                        await woken.wait()
                woken.clear()
        finally:
            del self._sleepers[woken]

    async def follow(self, step_id: str, ahead: float) -> None:
        """A step is so many seconds ahead of the machine: what it has skipped since passes here."""
        async with self._moving:
            more = ahead - self._ahead.get(step_id, 0.0)
            if more > 0:
                self._ahead[step_id] = ahead
                await self._skip(more)

    async def _skip(self, seconds: float) -> None:
        """What falls due meanwhile happens in its order, and has happened when this returns."""
        target = self._skipped + seconds
        while self._sleepers:
            woken, due = min(self._sleepers.items(), key=lambda sleeper: sleeper[1])
            at = due - time.monotonic()
            if at > target:
                break
            self._skipped = max(self._skipped, at)
            woken.set()
            # A sleeper that wakes goes on at the next turn, a task that it starts at the one after.
            for _ in range(3):
                await asyncio.sleep(0)
        self._skipped = target
        for woken in self._sleepers:
            woken.set()  # it has less left to sleep
