"""Work that goes on after the request that caused it, until the world stops."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class Tasks:
    """Running tasks, held so that none is collected early and all can be ended."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def end(self) -> None:
        """Cancels what still runs and waits for it."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
