"""The processes of the demo: embedded server, billing service and worker, in one folder."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.envconfig import ClientConfig
from temporalio.service import RPCError

from surestep.client import Surestep
from surestep.demo.deadline import Missed, until
from surestep.demo.tools import SERVICE
from surestep.embedded import EmbeddedServer, embedded_server
from surestep.embedded_folder import FileLock, ServerFolder
from surestep.testing.remote import RemoteWorld

STARTS_WITHIN: Final = timedelta(seconds=30)
ENDS_WITHIN: Final = timedelta(seconds=15)
GRACE: Final = timedelta(seconds=2)
TAIL: Final = 30  # lines of the worker's log that are shown when something went wrong

Say = Callable[[str], None]


@dataclass(frozen=True)
class Stage:
    """Everything is up: Temporal, the service with its ledger, and a worker process.

    With a key, the scripted human signs what it decides.
    """

    surestep: Surestep
    world: RemoteWorld
    server: EmbeddedServer
    worker: asyncio.subprocess.Process
    signing_key: Ed25519PrivateKey | None = None

    @property
    def reach(self) -> str:
        """What a command in another terminal must be told to find this server."""
        here = f"SURESTEP_HOME={self.server.folder}"
        names = sorted(name for name in os.environ if name.startswith("TEMPORAL_"))
        if not names and not _has_profiles():
            return here
        unset = "".join(f"-u {name} " for name in names)
        return f"env {unset}TEMPORAL_CONFIG_FILE={_no_profiles(self.server.folder)} {here}"

    async def worker_ends(self) -> None:
        """Return never: a worker that ends while it is needed raises Missed."""
        code = await self.worker.wait()
        raise Missed(f"the worker ended with exit code {code} while it was needed")


@asynccontextmanager
async def stage(folder: Path, say: Say) -> AsyncIterator[Stage]:
    """Set up and take down; nothing of it runs any more when this returns.

    Raises EmbeddedServerError, RuntimeError and Missed.
    """
    async with _server(folder) as server:
        say(f"Temporal    {server.address}, Web UI {server.ui_url}")
        client = await Client.connect(server.address, data_converter=pydantic_data_converter)
        async with RemoteWorld.spawn(folder=folder / "billing") as world:
            say(f"service     {world.url}, its ledger is SQLite")
            async with _worker(folder, world.url, client) as worker:
                say(f"worker      process {worker.pid}")
                surestep = Surestep(client, ui_url=server.ui_url)
                yield Stage(surestep, world, server, worker)


def log_tail(folder: Path) -> str:
    """The end of the worker's log."""
    try:
        lines = _log(folder).read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return "(the worker has not started)"
    return "\n".join(lines[-TAIL:])


@asynccontextmanager
async def _server(folder: Path) -> AsyncIterator[EmbeddedServer]:
    home = ServerFolder(folder)
    try:
        # It ends with its last user, because nobody comes back to this folder.
        async with embedded_server(folder, linger=timedelta(0)) as server:
            yield server
    finally:
        if home.supervisor.exists():
            lock = FileLock(home.supervisor)
            try:
                with suppress(Missed):
                    await until("the embedded server ends", lambda: _free(lock), within=ENDS_WITHIN)
            finally:
                lock.close()


async def _free(lock: FileLock) -> bool:
    return lock.take()


@asynccontextmanager
async def _worker(
    folder: Path, service: str, client: Client
) -> AsyncIterator[asyncio.subprocess.Process]:
    with _log(folder).open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(_worker_file()),
            cwd=folder,
            env=_environment(folder, service),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:

        async def polls() -> bool:
            if process.returncode is not None:
                raise Missed(f"the worker ended with exit code {process.returncode} as it started")
            return await _has_poller(client)

        await until("the worker asks for work", polls, within=STARTS_WITHIN)
        yield process
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout((GRACE + ENDS_WITHIN).total_seconds()):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


async def _has_poller(client: Client) -> bool:
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=Surestep(client).task_queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    )
    try:
        return bool((await client.workflow_service.describe_task_queue(request)).pollers)
    except RPCError:
        return False


def _worker_file() -> Path:
    spec = find_spec("worker")
    if spec is None or spec.origin is None:
        raise Missed(
            "worker.py is not on the import path: install Surestep, or run in its checkout"
        )
    return Path(spec.origin)


def _environment(folder: Path, service: str) -> dict[str, str]:
    """Ours without anything that speaks of another server, other tools or a proxy."""
    foreign = ("TEMPORAL_", "SURESTEP_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return kept | {
        "TEMPORAL_CONFIG_FILE": str(_no_profiles(folder)),
        "SURESTEP_HOME": str(folder),
        "SURESTEP_TOOLS": "surestep.demo.tools:tools",
        "SURESTEP_GRACE": f"{GRACE.total_seconds():g}",
        SERVICE: service,
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }


def _has_profiles() -> bool:
    try:
        return bool(ClientConfig.load().profiles)
    except (RuntimeError, OSError):  # unreadable; then it is in the way as well
        return True


def _no_profiles(folder: Path) -> Path:
    """An empty profile file, instead of the one that may name another server."""
    profiles = folder / "no-profiles.toml"
    profiles.touch()
    return profiles


def _log(folder: Path) -> Path:
    return folder / "worker.log"
