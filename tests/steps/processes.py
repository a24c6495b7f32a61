"""Workers in processes of their own, which a test can kill, freeze, thaw and stop."""

import asyncio
import os
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import BinaryIO

from tests import prepared
from tests.prepared import ROOT, Prepared
from tests.waiting import eventually

TOOLS = "tests.steps.tools:tools"

# A request stays under way for this long, so that there is time to do something to its worker; an
# attempt may take twice as long.
TOOL_SECONDS = 20


class Process:
    """One worker process and its log."""

    def __init__(self, running: asyncio.subprocess.Process | Prepared, log: Path) -> None:
        self._running = running
        self._log = log

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    @property
    def alive(self) -> bool:
        return self._running.returncode is None

    def freeze(self) -> None:
        self._running.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._running.send_signal(signal.SIGCONT)

    def ask_to_stop(self, by: signal.Signals = signal.SIGTERM) -> None:
        self._running.send_signal(by)

    async def kill(self) -> None:
        """SIGKILL: no handler runs, nothing is flushed, connections break."""
        if self.alive:
            self._running.kill()
        await self._running.wait()

    async def left(self, *, within: float = 30) -> int:
        """The exit code, once the process has ended by itself."""
        try:
            return await asyncio.wait_for(self._running.wait(), within)
        except TimeoutError:
            raise AssertionError(f"it has not left within {within} s\n{self.log}") from None

    async def says(self, words: str) -> None:
        """Waits until the words are in its log."""

        async def says_so() -> bool:
            said = words in self.log
            assert said or self.alive, self.log
            return said

        await eventually(says_so, within=30)


class Workers:
    """Starts worker processes on one task queue."""

    def __init__(
        self, stack: AsyncExitStack, address: str, world_url: str, folder: Path, queue: str
    ) -> None:
        self.queue = queue
        self._stack = stack
        self._folder = folder
        self._count = 0
        ours = ("SURESTEP_", "TEMPORAL_")
        self._env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        self._env |= {
            "TEMPORAL_ADDRESS": address,
            "SURESTEP_TOOLS": TOOLS,
            "SURESTEP_TASK_QUEUE": queue,
            "WORLD_URL": world_url,
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
        }

    async def start(
        self,
        *command: str,
        grace: float = 60,
        tool_seconds: float = TOOL_SECONDS,
        **settings: str,
    ) -> Process:
        """`python worker.py`, or another Python command, once it serves.

        `settings` are variables of its environment. `-c CODE` imports everything itself.
        """
        self._count += 1
        path = self._folder / f"worker-{self._count}.log"
        env = self._env | {"SURESTEP_GRACE": str(grace), "TOOL_SECONDS": str(tool_seconds)}
        with path.open("wb") as log:
            running = await self._begin(command or ("worker.py",), env | settings, log)
        process = Process(running, path)
        self._stack.push_async_callback(process.kill)
        await process.says("serving")
        return process

    async def _begin(
        self, command: tuple[str, ...], env: dict[str, str], log: BinaryIO
    ) -> asyncio.subprocess.Process | Prepared:
        if command[0] != "-c":
            return await prepared.begin(*command, env=env, stdout=log, stderr=log)
        return await asyncio.create_subprocess_exec(
            sys.executable, *command, cwd=ROOT, env=env, stdout=log, stderr=log
        )
