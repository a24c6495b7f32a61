"""The process that owns the embedded server: `python -m surestep.embedded_supervisor`.

Started by `surestep.embedded`, once per folder. It outlives whoever started it, starts the server
again when it dies, and ends it when no process has used it for a while.
"""

import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from surestep.embedded_folder import Announcement, FileLock, Ports, ServerFolder
from surestep.embedded_process import PREFERRED, answers, command_line, free_port

TICK: Final = timedelta(seconds=1)
STARTS_WITHIN: Final = timedelta(seconds=20)
ENDS_WITHIN: Final = timedelta(seconds=10)
LOG_LIMIT: Final = 4 * 2**20
"""Bytes of server.log at which it starts anew; one older part is kept as server.log.1."""

log = logging.getLogger("surestep.supervisor")


class Supervisor:
    """Owns the server of one folder. Its caller holds supervisor.lock and never lets go."""

    def __init__(self, folder: ServerFolder, binary: str, *, linger: timedelta) -> None:
        self._folder: Final = folder
        self._binary: Final = binary
        self._linger: Final = linger
        self._users: Final = FileLock(folder.users)
        self._server_lock: Final = FileLock(folder.server)
        self._server: subprocess.Popen[bytes] | None = None
        self._announced: FileLock | None = None

    def run(self) -> None:
        """Serve until nobody uses the server; SystemExit with a sentence if it cannot start."""
        self._end_orphan()
        try:
            ports = self._start_on_free_ports()
            self._serve_until_unused(ports)
        finally:
            self._end()

    def _end_orphan(self) -> None:
        """End a server whose supervisor was killed: it still writes to the database."""
        orphan = self._folder.last()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number and orphan and orphan.server:
                log.warning("ending server %s: its supervisor was killed", orphan.server)
                with suppress(ProcessLookupError):
                    os.kill(orphan.server, number)
            deadline = time.monotonic() + (ENDS_WITHIN.total_seconds() if number else 0.1)
            while time.monotonic() < deadline:
                if self._server_lock.take():
                    return
                time.sleep(0.05)
        sys.exit(f"another process holds {self._folder.server}: end it, then try again")

    def _start_on_free_ports(self) -> Ports:
        last = self._folder.last()
        wished = last.ports if last else PREFERRED
        for _ in range(3):  # a port may be lost between our look and the server's bind
            grpc = free_port(wished.grpc, PREFERRED.grpc)
            ports = Ports(grpc, free_port(wished.ui, PREFERRED.ui))
            if self._start(ports):
                return ports
        sys.exit("the server does not start: see the lines above")

    def _serve_until_unused(self, ports: Ports) -> None:
        """Return with the users' lock in hand: who comes now waits until we are gone."""
        used_at = time.monotonic()
        while True:
            if self._has_ended_within(TICK):
                log.warning("the server ended by itself: starting it again on %s", ports.address)
                if not self._start(ports):
                    time.sleep(TICK.total_seconds())
            self._bound_log()
            if not self._users.take():
                used_at = time.monotonic()
            elif time.monotonic() - used_at >= self._linger.total_seconds():
                return
            else:
                self._users.release()

    def _start(self, ports: Ports) -> bool:
        self._withdraw()
        http_port = free_port()
        # Name no process until there is one: the last id may belong to an innocent one by now.
        self._folder.write(Announcement(os.getpid(), None, ports)).close()
        self._server = subprocess.Popen(
            command_line(self._binary, self._folder.database, ports, http_port),
            stdin=subprocess.DEVNULL,
            pass_fds=[self._server_lock.descriptor],
        )
        announcement = self._folder.write(Announcement(os.getpid(), self._server.pid, ports))
        deadline = time.monotonic() + STARTS_WITHIN.total_seconds()
        while self._server.poll() is None and time.monotonic() < deadline:
            if answers(http_port):
                announcement.take(wait=True)
                self._announced = announcement
                return True
            time.sleep(0.05)
        announcement.close()
        self._end_server()
        return False

    def _has_ended_within(self, limit: timedelta) -> bool:
        if self._server is None:
            return True
        with suppress(subprocess.TimeoutExpired):
            self._server.wait(limit.total_seconds())
        return self._server.poll() is not None

    def _bound_log(self) -> None:
        # Copied and emptied, not renamed: the server keeps appending to the file it has open.
        path = self._folder.log
        if path.exists() and path.stat().st_size > LOG_LIMIT:
            shutil.copyfile(path, path.with_name("server.log.1"))
            os.truncate(path, 0)

    def _end(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        self._withdraw()
        self._end_server()

    def _end_server(self) -> None:
        if self._server is None:
            return
        self._server.terminate()
        if not self._has_ended_within(ENDS_WITHIN):
            self._server.kill()
            self._server.wait()

    def _withdraw(self) -> None:
        if self._announced is not None:
            self._announced.close()
            self._announced = None


def main() -> None:
    """`embedded_supervisor FOLDER BINARY LINGER_SECONDS`, with supervisor.lock inherited."""
    folder, binary, linger = sys.argv[1:]
    # The starter waits for this first process only; the second belongs to nobody and leaves no
    # zombie in a starter that lives on.
    if os.fork():
        os._exit(0)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit("told to end"))
    logging.basicConfig(format="%(asctime)s %(name)s %(message)s", level=logging.INFO)
    supervisor = Supervisor(
        ServerFolder(Path(folder)), binary, linger=timedelta(seconds=float(linger))
    )
    supervisor.run()


if __name__ == "__main__":
    main()
