"""A receiver, and an activity `notify` on the real server."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import ActivityHandle, Client
from temporalio.common import RetryPolicy

from activities.notify import Notifier
from surestep.notification.channel import Channels
from surestep.notification.told import Told
from surestep.protocol import NOTIFY
from surestep.questions import NotifyOrder
from surestep.settings import Settings
from surestep.tool import Tool, Tools
from tests import prepared
from tests.notification.orders import order
from tests.notification.receiver import Receiver
from tests.steps.processes import Process, Workers
from worker import build_worker

QUICKLY = RetryPolicy(
    initial_interval=timedelta(milliseconds=100), maximum_interval=timedelta(seconds=1)
)

Start = Callable[..., Awaitable[ActivityHandle[Told]]]
Telling = Callable[..., AbstractAsyncContextManager[Start]]


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with Receiver.open() as running:
        yield running


@pytest.fixture
def queue(step_id: str) -> str:
    return step_id


@pytest.fixture
def start(client: Client, queue: str) -> Start:
    """`await start(order)`: the handle of one `notify`, started without a workflow."""

    async def begin(
        given: NotifyOrder | None = None,
        *,
        lasts: timedelta = timedelta(minutes=1),
        attempt: timedelta = timedelta(seconds=60),
        policy: RetryPolicy = QUICKLY,
    ) -> ActivityHandle[Told]:
        given = given or order()
        return await client.start_activity(
            NOTIFY,
            given,
            id=f"{queue}/{given.id}",
            task_queue=queue,
            result_type=Told,
            schedule_to_close_timeout=lasts,
            start_to_close_timeout=attempt,
            retry_policy=policy,
        )

    return begin


@pytest.fixture
def telling(client: Client, queue: str, start: Start) -> Telling:
    """`async with telling(tool, …, SURESTEP_NOTIFY=…) as start:` a worker with these settings."""

    @asynccontextmanager
    async def run(*tools: Tool, **env: str) -> AsyncIterator[Start]:
        channels = Channels.of(Settings.from_environment(env))
        notifier = Notifier(channels, ui_url="http://127.0.0.1:8233")
        known, grace = Tools(*tools), timedelta(seconds=1)
        async with build_worker(client, known, task_queue=queue, grace=grace, notifier=notifier):
            yield start

    return run


class Notifying(Workers):
    """Worker processes with further settings."""

    async def starts(self, **env: str) -> Process:
        self._env |= env
        return await self.start()

    async def refused(self, **env: str) -> str:
        """What a worker says that does not start with these settings."""
        running = await prepared.begin("worker.py", env=self._env | env, stderr=prepared.STDOUT)
        said, _ = await asyncio.wait_for(running.communicate(), 60)
        assert running.returncode == 1, said
        return said.decode()


@pytest.fixture
async def workers(
    temporal_address: str, receiver: Receiver, tmp_path: Path, queue: str
) -> AsyncIterator[Notifying]:
    """Worker processes on the queue of this test; all are killed at its end."""
    async with AsyncExitStack() as stack:
        yield Notifying(stack, temporal_address, receiver.url(""), tmp_path, queue)
