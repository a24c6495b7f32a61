"""One worker process in production's dress, and steps that carry canaries into it."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import date
from pathlib import Path

import httpx
from temporalio.client import Client
from temporalio.service import RPCError
from typer.testing import CliRunner

import starter
from surestep import StepConflict, Surestep
from surestep.embedded_process import free_port
from surestep.encryption.converter import data_converter
from surestep.encryption.key_file import new_id, new_key, write_keys
from surestep.encryption.key_ring import KeyRing
from surestep.protocol import STEP_WORKFLOW
from surestep.record import Record
from tests.protection.canaries import Canaries
from tests.protection.echo import Echo
from tests.protection.tools import MANNERS
from tests.steps.processes import Process, Workers
from tests.waiting import eventually

DEBUG = """
import logging
root = logging.getLogger()
root.setLevel = lambda level: logging.Logger.setLevel(root, logging.DEBUG)
import worker
worker.main()
"""


class Stage:
    def __init__(
        self, echo: Echo, worker: Process, surestep: Surestep, env: dict[str, str], at: str
    ) -> None:
        self.echo, self.worker, self.surestep, self.env, self.at = echo, worker, surestep, env, at
        self.canaries = Canaries()
        self.steps: list[str] = []
        self.conflict = ""

    @classmethod
    @asynccontextmanager
    async def set(
        cls, address: str, folder: Path, *, encrypted: bool, log: str
    ) -> AsyncIterator["Stage"]:
        async with AsyncExitStack() as stack:
            echo = await stack.enter_async_context(Echo.open())
            ring = None
            at, queue = f"127.0.0.1:{free_port()}", f"protection-{log}"
            env = {"SURESTEP_TASK_QUEUE": queue, "SURESTEP_TOOLS": "tests.protection.tools:tools"}
            vault = folder / "secrets"
            vault.mkdir(parents=True)
            if encrypted:
                keys, name = folder / "keys.toml", new_id(date(2026, 11, 30))
                write_keys(keys, name, {name: new_key()}, new=True)
                env["SURESTEP_ENCRYPTION_KEYS"], ring = str(keys), KeyRing.load(keys)
            client = await Client.connect(address, data_converter=data_converter(ring))
            stage = cls(echo, None, Surestep(client, task_queue=queue), env, at)
            (vault / "billing-token").write_text(f"{stage.canaries.token}\n")
            workers = Workers(stack, address, echo.url, folder, queue)
            stage.worker = await workers.start(
                "-c",
                DEBUG,
                **env,
                ECHO_URL=echo.url,
                ECHO_CREDENTIAL=stage.canaries.credential,
                SURESTEP_SECRETS=str(vault),
                SURESTEP_NOTIFY=f"{echo.url}/answered/hook",
                SURESTEP_LOG=log,
                SURESTEP_METRICS=at,
                SURESTEP_TRACES=echo.url,
            )
            stage.env["TEMPORAL_ADDRESS"] = address
            try:
                yield stage
            finally:  # so that no list of another test waits for a worker that is gone
                for step_id in stage.steps:
                    with suppress(RPCError):
                        await client.get_workflow_handle(step_id).terminate()

    def arguments(self, order: str, **more: str) -> dict[str, object]:
        known = self.canaries
        customers = [{"email": known.email, "name": known.name}]
        return {
            "order": order,
            "email": known.email,
            "note": known.control,
            "customers": customers,
            **more,
        }

    @property
    def planned(self) -> list[str]:
        """Those of which a worker knows something; of the others, their plan always fails."""
        return [one for one in self.steps if not one.endswith(("bad", "approving-raises"))]

    async def plays(self) -> None:
        """Every tool in every manner, until nothing more comes of it by itself."""
        from tests.protection import tools

        orders = {tools.hostile: MANNERS, tools.looking: ("raises", "tells")}
        orders[tools.approving] = ("raises", "asks")
        actions = {
            f"canary/{self.surestep.task_queue}/{tool.name}-{order}": tool(**self.arguments(order))
            for tool in tools.tools
            for order in orders.get(tool, ("plain",))
        }
        lacking = tools.hostile(**self.arguments("lacks", token="no-such-token"))
        actions[f"canary/{self.surestep.task_queue}/lacking"] = lacking
        self.steps = list(actions)
        for step_id, action in actions.items():
            await self.surestep.start(
                step_id, action, run=self.surestep.task_queue, label="a canary"
            )
        bad = {"tool": "answered", "arguments": self.arguments("bad", email=self.canaries.name)}
        self.steps.append(f"canary/{self.surestep.task_queue}/bad")
        await self.surestep.client.start_workflow(
            STEP_WORKFLOW,
            {"actions": [bad]},
            id=self.steps[-1],
            task_queue=self.surestep.task_queue,
        )
        try:
            other = tools.answered(**self.arguments("plain", email="eve@example.net"))
            await self.surestep.start(self.steps[0], other)
        except StepConflict as conflict:
            self.conflict = str(conflict)
        for step_id in self.planned:
            await eventually(lambda step_id=step_id: self._rests(step_id), within=60)
        await self.worker.says("ToolFailed")
        (failing,) = (one for one in self.steps if one.endswith("approving-raises"))
        await self.surestep.client.get_workflow_handle(failing).terminate()
        # Traces are sent every few seconds.
        await eventually(self._traced, within=60)

    async def _rests(self, step_id: str) -> bool:
        (record,) = await self.records(step_id) or [None]
        if record is None:
            return False
        told = record.told or not record.asked
        waits = record.in_flight is None and record.doubt is None and len(record.log) > 2
        return bool((record.asked and told) or record.closed or (waits and record.not_before))

    async def _traced(self) -> bool:
        return any(b"hostile-doubt" in one.body for one in self.echo.told("/v1/traces"))

    async def records(self, step_id: str) -> list[Record]:
        try:
            return await self.surestep.handle(step_id).records()
        except Exception:  # it has no plan yet
            return []

    async def metrics(self) -> str:
        async with httpx.AsyncClient(verify=False, trust_env=False) as http:
            return (await http.get(f"http://{self.at}/metrics")).text

    async def typed(self, *words: str) -> str:
        """What a command of the operator's says."""
        done = await asyncio.to_thread(CliRunner().invoke, starter.app, list(words), env=self.env)
        return done.output


def listed(database: Path) -> bytes:
    """Everything that the visibility store holds."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as store:
        tables = [
            name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        names = [name for name in tables if name.startswith("executions_visibility")]
        rows = [row for name in names for row in store.execute(f"SELECT * FROM {name}")]
    return repr(rows).encode()


def whole(database: Path) -> bytes:
    """The server's files, byte by byte."""
    return b"".join(path.read_bytes() for path in sorted(database.parent.glob("temporal.db*")))
