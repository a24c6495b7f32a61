"""One server for all of the doctor's tests, and one that has been crippled."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio
from temporalio.client import Client

from surestep.doctor import Checkup, examine
from tests.steps.namespaces import new_namespace
from tests.steps.server import Server

QUICK_TO_REPORT = "system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute=1"

CRIPPLED = (
    "system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute=0",
    "frontend.enableUpdateWorkflowExecution=false",
    "limit.blobSize.error=262144",
)


def configured(*values: str) -> tuple[str, ...]:
    return tuple(word for value in values for word in ("--dynamic-config-value", value))


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    running = Server(tmp_path_factory.mktemp("doctor"), more=configured(QUICK_TO_REPORT))
    await running.start()
    yield running
    await running.end()


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def client(server: Server) -> Client:
    """Of the namespace `default`, which is set up as it must be."""
    return await server.client()


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def bare(client: Client) -> Client:
    """Of a namespace that nobody has set up, except for one attribute of a wrong type."""
    return await new_namespace(client, "bare", SurestepState="Int")


@pytest.fixture
def examined(server: Server, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Awaitable[Checkup]]:
    """`await examined(SURESTEP_TOOLS=…)`: the whole examination, with this server configured."""
    for name in [name for name in os.environ if name.startswith("TEMPORAL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TEMPORAL_ADDRESS", server.address)

    async def run(**variables: str) -> Checkup:
        return await examine(variables)

    return run
