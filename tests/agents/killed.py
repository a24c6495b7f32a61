"""What a process with agents has left when it was killed."""

import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from surestep import Surestep, Tools
from surestep.testing import World
from tests.steps import tools
from tests.steps.processes import Workers
from worker import build_worker


@dataclass(frozen=True)
class Left:
    """A worker goes on. `folder` has the files of the process, `runs` is how its runs are named."""

    surestep: Surestep
    world: World
    folder: Path
    runs: str


@asynccontextmanager
async def left_by(child: str, address: str, folder: Path) -> AsyncIterator[Left]:
    """Runs `python -m {child} FOLDER RUNS`, which says `serving`, and ends by SIGKILL.

    The first answer to the run `RUNS/parked` is lost.
    """
    queue = runs = f"killed-{abs(hash(folder))}"
    client = await Client.connect(address, data_converter=pydantic_data_converter)
    async with AsyncExitStack() as stack:
        world = await stack.enter_async_context(World.start(folder=folder / "world"))
        await world.fault(f"{runs}/parked/*", write=["reply_lost"])
        stack.enter_context(pytest.MonkeyPatch.context()).setenv("WORLD_URL", world.url)
        known = Tools(tools.keyed, tools.blind)
        await stack.enter_async_context(build_worker(client, known, task_queue=queue))
        children = Workers(stack, address, world.url, folder, queue)
        process = await children.start("-m", child, str(folder), runs)
        assert await process.left(within=90) == -signal.SIGKILL, process.log
        yield Left(Surestep(client, task_queue=queue), world, folder, runs)
