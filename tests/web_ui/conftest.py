"""A server with a Web UI, a browser, and a bank whose statements come late."""

import os
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client

from surestep import Surestep, Tools
from surestep.embedded import EmbeddedServer, embedded_server
from surestep.protocol import TASK_QUEUE
from surestep.testing import World
from surestep.testing.service import Service
from tests.web_ui.browser import Browser, chromium, installed
from tests.web_ui.tools import transfer
from worker import build_worker

REQUIRED = "CHROMIUM"
"""Set to "required" where a missing browser is a failure."""

PICTURES = "PICTURES"
"""Names the folder for pictures of the pages; unset, none are made."""

MISSING = (
    "there is no Chromium with its chromedriver; Debian's packages chromium and chromium-driver "
    "bring both"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    paths = installed()
    if paths is None and os.environ.get(REQUIRED) == "required":
        pytest.fail(MISSING)
    if paths is None:
        pytest.skip(MISSING)
    with chromium(*paths, profile=tmp_path_factory.mktemp("chromium")) as running:
        yield running


@pytest.fixture
async def server(browser: Browser, tmp_path: Path) -> AsyncIterator[EmbeddedServer]:
    """One for each test, so that its list holds this test's steps only."""
    async with embedded_server(tmp_path / "home", linger=timedelta(0)) as running:
        yield running


@pytest.fixture
def temporal_address(server: EmbeddedServer) -> str:
    return server.address


@pytest.fixture
async def surestep(client: Client, world: World, server: EmbeddedServer) -> AsyncIterator[Surestep]:
    """The client, and a worker that serves it."""
    async with build_worker(client, Tools(transfer), task_queue=TASK_QUEUE, grace=timedelta(0)):
        yield Surestep(client, ui_url=server.ui_url)


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    bank = Service("bank", lag=timedelta(hours=1))
    async with World.start(folder=tmp_path / "world", services=[bank]) as running:
        monkeypatch.setenv("WORLD_URL", running.url)
        yield running


@pytest.fixture
def pictures() -> Path | None:
    folder = os.environ.get(PICTURES)
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder) if folder else None
