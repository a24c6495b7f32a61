"""The production layout, started by hand: what docker-compose.yml says, outside containers.

Commands, environment and order are the file's. In place of the images of others, whose programs no
wheel has, stand: for database, schema, server, namespace and Web UI one development server of
Temporal on a database file, without Surestep's search attributes, which `setup` must bring; for
`tools-database` the PostgreSQL of the tests.
"""

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import BinaryIO

import httpx

from surestep.embedded_folder import IP
from surestep.embedded_process import free_port
from surestep.encryption.key_file import key_text, new_key
from surestep.signature import private_text
from surestep.testing import RemoteWorld
from tests import prepared
from tests.authority.people import key_of, public
from tests.postgresql.server import Server as PostgreSQL
from tests.prepared import ROOT, Prepared
from tests.production.compose import Compose, Service
from tests.steps.server import Server
from tests.waiting import eventually

ADA, WORKERS = "ada", "workers"
TOOLS = "surestep.demo.tools:tools,examples.transfer:transfer,tests.steps.tools:tools"
STARTS_WITHIN = 120.0


class BareServer(Server):
    """As every server is before `setup`: it knows no search attributes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        first = self._command.index("--search-attribute")
        assert set(self._command[first::2]) == {"--search-attribute"}
        del self._command[first:]

    def set(self, name: str, value: object) -> None:
        self._command += ["--dynamic-config-value", f"{name}={json.dumps(value)}"]


class Running:
    """One service that is up."""

    def __init__(self, service: Service, process: Prepared, ports: dict[str, int], log: Path):
        self.service = service
        self.process = process
        self.ports = ports
        self._log = log

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    async def asked(self, path: str, *, within: float = 10) -> tuple[int, str]:
        """What a worker says of its health; status 0: it does not answer in that time."""
        try:
            async with httpx.AsyncClient(timeout=within, verify=False, trust_env=False) as http:
                answer = await http.get(f"http://{IP}:{self.ports['8081']}{path}")
        except httpx.TransportError:
            return 0, ""
        return answer.status_code, answer.text.strip()

    async def listens(self) -> bool:
        """Cheaper to ask, again and again, than its health."""
        assert self.process.returncode is None, f"{self.service.name} has ended\n{self.log}"
        try:
            _, writer = await asyncio.open_connection(IP, self.ports[self.service.health_port])
        except OSError:
            return False
        writer.close()
        return True

    async def healthy(self) -> bool:
        """By the command of its health check, as a container engine runs it."""
        assert self.process.returncode is None, f"{self.service.name} has ended\n{self.log}"
        assert self.service.health
        command = [sys.executable, *self.service.health]
        check = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
        )
        return await check.wait() == 0


class Layout:
    """Everything that the profile `demo` starts, each after what it waits for."""

    def __init__(self, folder: Path, stack: AsyncExitStack, bank: PostgreSQL) -> None:
        self.bank = bank
        self.server = BareServer(folder)
        self.running: dict[str, Running] = {}
        self._folder = folder
        self._stack = stack
        self._numbers = count(1)
        # Below those that the system gives to outgoing connections, which may take any of theirs.
        self._ports = count(20_000 + os.getpid() * 41 % 12_000)
        self._shared = {port: self._free_port() for port in ("8000", "8888")}
        self._compose = Compose(
            given={"SURESTEP_TOOLS": TOOLS},
            hosts={
                "temporal:7233": self.server.address,
                "billing:8000": f"{IP}:8000",
                "tools@tools-database:5432/tools": f"postgres@{IP}:{bank.port}/postgres",
            },
            folder=folder,
            profile="demo",
        )

    @property
    def world(self) -> RemoteWorld:
        return RemoteWorld(f"http://{IP}:{self._shared['8000']}")

    @property
    def codec_url(self) -> str:
        return f"http://{IP}:{self._shared['8888']}"

    def secret(self, name: str) -> Path:
        return self._compose.secret(name)

    async def start(self) -> None:
        self._make_secrets()
        for name, value in self._compose.server_settings.items():
            self.server.set(name, value)
        await self.server.start()
        self._stack.push_async_callback(self.server.end)
        for name in self._compose.in_order():
            if self._compose.ours(name):
                await self.up(name)

    async def up(self, name: str) -> Running:
        """Start a service and wait, as Compose does, until it has ended or is healthy."""
        own = {port: self._free_port() for port in ("8081", "9464")}
        ports = self._shared | own
        service = self._compose.service(name, ports)
        path = self._folder / f"{name}-{next(self._numbers)}.log"
        with path.open("wb") as log:
            process = await self._begin(service, log)
        running = Running(service, process, ports, path)
        if service.once:
            code = await asyncio.wait_for(process.wait(), STARTS_WITHIN)
            assert code == 0, f"{name}: exit code {code}\n{running.log}"
        else:
            self._stack.push_async_callback(self._kill, process)
            await eventually(running.listens, within=STARTS_WITHIN)
            await eventually(running.healthy, within=STARTS_WITHIN)
        self.running[name] = running
        return running

    def _free_port(self) -> int:
        return next(port for port in self._ports if free_port(port) == port)

    async def _begin(self, service: Service, log: BinaryIO) -> Prepared:
        (self._folder / "ledger").mkdir(exist_ok=True)
        surroundings = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),  # the image's
            "PYTHONUNBUFFERED": "1",
            "HOME": str(self._folder / "nowhere"),
            "WORLD_URL": self.world.url,  # for the tools of tests/steps
            "TOOL_SECONDS": "60",
        }
        return await prepared.begin(
            *service.command, env=surroundings | service.environment, stdout=log, stderr=log
        )

    async def _kill(self, process: Prepared) -> None:
        process.kill()
        await process.wait()

    def _make_secrets(self) -> None:
        """What docs/deploy.md lets people make."""
        people = f'[people.{ADA}]\nkeys = ["{public(ADA)}"]\n'
        people += f'[sources.{WORKERS}]\nkeys = ["{public(WORKERS)}"]\n'
        for name, text in {
            "encryption-keys": key_text("first", {"first": new_key()}),
            "decision-keys": people,
            "worker-key": private_text(key_of(WORKERS)),
            "tools-database-password": "nobody asks for it here",
        }.items():
            path = self.secret(name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            path.chmod(0o600)
