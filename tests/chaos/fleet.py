"""The fleet: places for worker processes, what is done to them, and when it was done."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx

from surestep.testing import RemoteWorld
from tests.chaos.plan import FREEZES, Blow, PlannedBlow
from tests.steps.processes import ROOT, Process
from tests.steps.server import Server
from tests.waiting import eventually

TOOLS: Final = "tests.chaos.kinds:tools"
GRACES: Final = (10.0, 0.5, 10.0)  # seconds, by place: one cuts its requests off when it drains
LEAVES_WITHIN: Final = 60.0
ANSWERS_WITHIN: Final = 60.0
TRIES: Final = 20

T = TypeVar("T")


@dataclass
class Struck:
    """A blow as it fell; `over` None: it lasts."""

    planned: PlannedBlow
    since: datetime
    over: datetime | None = None

    def __str__(self) -> str:
        until = f"{self.over:%H:%M:%S.%f}" if self.over else "…"
        return f"{self.since:%H:%M:%S.%f} to {until} {self.planned}"


class Place:
    """One place of the fleet: a worker process, and after its end another one."""

    def __init__(self, number: int, env: dict[str, str], folder: Path) -> None:
        self._number, self._folder, self._count = number, folder, 0
        self._env = env | {"SURESTEP_GRACE": str(GRACES[number])}
        self.process: Process | None = None

    async def fill(self) -> Process:
        """A process that serves. One that starts while the server is down ends, as it says."""
        for _ in range(TRIES):
            self._count += 1
            path = self._folder / f"worker-{self._number}-{self._count}.log"
            with path.open("wb") as log:
                running = await asyncio.create_subprocess_exec(
                    sys.executable, "worker.py", cwd=ROOT, env=self._env, stdout=log, stderr=log
                )
            self.process = process = Process(running, path)
            try:
                await process.says("serving")
                return process
            except AssertionError:
                if process.alive:
                    raise
        raise RuntimeError(f"no worker starts: {self.process.log if self.process else ''}")

    async def end(self) -> None:
        if self.process:
            await self.process.kill()


class Fleet:
    """Workers on one queue. `struck` holds every blow that fell, oldest first."""

    def __init__(self, server: Server, world: RemoteWorld, folder: Path, queue: str) -> None:
        self._server, self._world, self._folder = server, world, folder
        self.struck: list[Struck] = []
        self._places: list[Place] = []
        ours = ("SURESTEP_", "TEMPORAL_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        self._env = kept | {
            "TEMPORAL_ADDRESS": server.address,
            "SURESTEP_TOOLS": TOOLS,
            "SURESTEP_TASK_QUEUE": queue,
            "WORLD_URL": world.url,
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
        }

    async def start(self, workers: int, stack: AsyncExitStack) -> None:
        self._places = [Place(number, self._env, self._folder) for number in range(workers)]
        for place in self._places:
            stack.push_async_callback(place.end)
        await asyncio.gather(*(place.fill() for place in self._places))

    async def suffer(self, planned: PlannedBlow) -> None:
        """Returns once what was hit works again."""
        struck = Struck(planned, datetime.now(UTC))
        self.struck.append(struck)
        if planned.worker is not None:
            await self._worker(self._places[planned.worker], struck)
        elif planned.blow is Blow.OUTAGE:
            await self._outage(planned.lasts)
        else:
            how = signal.SIGKILL if planned.blow is Blow.SERVER_KILL else signal.SIGTERM
            await self._server.end(how)
            await lasting(planned.lasts)
            await self._server.start()
        struck.over = datetime.now(UTC)

    async def _worker(self, place: Place, struck: Struck) -> None:
        process, planned = place.process, struck.planned
        assert process
        if planned.blow in FREEZES:
            process.freeze()
            try:
                await lasting(planned.lasts)
            finally:
                process.thaw()
            return
        if planned.blow is Blow.DRAIN:
            process.ask_to_stop()
            await process.left(within=LEAVES_WITHIN)
        else:
            await process.kill()
        await lasting(planned.lasts)
        await place.fill()

    async def _outage(self, seconds: float) -> None:
        await insistently(self._world.stop_listening)
        await lasting(seconds)
        await insistently(self._world.listen_again)

    def awake_since(self, moment: datetime) -> datetime | None:
        """Since when no worker sleeps that slept at or before `moment`; None: one still does."""
        slept = [one for one in self.struck if one.planned.blow in FREEZES and one.since <= moment]
        if any(one.over is None for one in slept):
            return None
        return max((one.over for one in slept if one.over), default=moment)


async def lasting(seconds: float) -> None:
    """How long a blow lasts is the blow: nothing is waited for here that could come sooner."""
    await asyncio.sleep(seconds)


async def insistently(call: Callable[..., Awaitable[T]], *args: Any, **more: Any) -> T:
    """Calls the world's control until it answers; for calls that may be repeated."""

    async def answered() -> tuple[T] | None:
        try:
            return (await call(*args, **more),)
        except httpx.TransportError:
            return None

    (answer,) = await eventually(answered, within=ANSWERS_WITHIN)  # type: ignore[misc]
    return answer
