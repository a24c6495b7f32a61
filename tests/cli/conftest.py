"""A real server, a worker in this process, and the command line in processes of its own."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.common import SearchAttributeKey
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment

from surestep import Surestep, Tool, Tools
from surestep.embedded_process import find_binary
from surestep.protocol import WATCH_WORKFLOW, WatchInput
from surestep.visibility import SEARCH_ATTRIBUTES
from tests import prepared
from tests.prepared import Prepared
from worker import build_worker

from . import tools

PATIENCE = timedelta(seconds=20)

KINDS = {
    "Keyword": SearchAttributeKey.for_keyword,
    "KeywordList": SearchAttributeKey.for_keyword_list,
    "Bool": SearchAttributeKey.for_bool,
    "Datetime": SearchAttributeKey.for_datetime,
}


@dataclass
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """Stderr without its line breaks."""
        return " ".join(self.err.split())

    @property
    def shown(self) -> str:
        """Stdout without its line breaks and columns."""
        return " ".join(self.out.split())

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def width(self) -> int:
        """Of what can be broken into lines, and a link cannot."""
        lines = [*self.out.splitlines(), *self.err.splitlines()]
        return max((len(line) for line in lines if "http://" not in line), default=0)


class Running:
    """A command that runs; what it has said so far can be waited for."""

    def __init__(self, process: Prepared) -> None:
        self.process = process
        self._out = self._err = ""
        self._printed = 0  # of stdout, up to the last thing that was waited for

    async def prints(self, words: str) -> None:
        """Wait for the words on stdout, after those that were waited for before."""
        async with asyncio.timeout(PATIENCE.total_seconds()):
            while words not in self._out[self._printed :]:
                line = await self.process.stdout.readline()
                assert line, f"{words!r} was never printed, only: {self._out}"
                self._out += line.decode()
        self._printed = self._out.index(words, self._printed) + len(words)

    async def says(self, words: str) -> None:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            while words not in self._err:
                line = await self.process.stderr.readline()
                assert line, f"{words!r} was never said, only: {self._err}"
                self._err += line.decode()

    async def end(self) -> Ended:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            out, err = await self.process.communicate()
        ended = Ended(self.process.returncode, self._out + out.decode(), self._err + err.decode())
        assert "Traceback" not in ended.err, ended.err
        assert "\x1b" not in ended.out + ended.err, "colours where nobody looks"
        return ended


class Terminal:
    """Where commands are typed: `await terminal("list")`."""

    def __init__(self, home: Path, **variables: str) -> None:
        ours = ("TEMPORAL_", "SURESTEP_")
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(ours)
        }
        self.environment |= {"HOME": str(home), "COLUMNS": "80", "USER": "ada", "LOGNAME": "ada"}
        self.environment |= variables

    def where(self, **variables: str) -> "Terminal":
        """The same, with other variables."""
        other = Terminal(Path(self.environment["HOME"]))
        other.environment = self.environment | variables
        return other

    async def begin(self, *words: str) -> Running:
        return Running(await prepared.begin("starter.py", *words, env=self.environment))

    async def __call__(self, *words: str) -> Ended:
        return await (await self.begin(*words)).end()


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def server() -> AsyncIterator[WorkflowEnvironment]:
    async with await WorkflowEnvironment.start_local(
        dev_server_existing_path=find_binary(),
        data_converter=pydantic_data_converter,
        search_attributes=[KINDS[kind](name) for name, kind in SEARCH_ATTRIBUTES.items()],
        dev_server_log_level="error",
    ) as running:
        yield running


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def surestep(server: WorkflowEnvironment) -> AsyncIterator[Surestep]:
    """The client, and a worker that serves it."""
    async with build_worker(server.client, Tools(*tools.tools, *tools.others), grace=timedelta(0)):
        yield Surestep(server.client)


@pytest.fixture
def elsewhere(server: WorkflowEnvironment, tmp_path: Path) -> Terminal:
    """A terminal whose task queue no worker polls."""
    return Terminal(
        tmp_path,
        TEMPORAL_ADDRESS=server.client.service_client.config.target_host,
        SURESTEP_TASK_QUEUE="nobody",
        SURESTEP_TOOLS="tests.cli.tools:tools",
        SURESTEP_UI="http://ui.example",
    )


@pytest.fixture
def terminal(elsewhere: Terminal, surestep: Surestep) -> Terminal:
    return elsewhere.where(SURESTEP_TASK_QUEUE=surestep.task_queue)


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until it holds; fail if it does not in time."""
    deadline = time.monotonic() + PATIENCE.total_seconds()
    while not await holds():
        assert time.monotonic() < deadline, "it never came true"
        await asyncio.sleep(0.05)


async def parked(surestep: Surestep, step_id: str) -> None:
    """Wait until the step waits for a person, also in the list, which lags."""

    async def listed() -> bool:
        return step_id in {one.step_id for one in await surestep.unresolved()}

    await until(listed)


async def forgotten(surestep: Surestep, *step_ids: str) -> None:
    """End steps that no worker serves: whatever lists steps would wait for each of them."""
    for step_id in step_ids:
        await surestep.client.get_workflow_handle(step_id).terminate()


async def late_effect(
    server: WorkflowEnvironment, surestep: Surestep, step_id: str, tool: Tool = tools.parcel
) -> str:
    """A step that ended without an effect, and whose watch finds one now; the watch's id.

    The step's own watch looks for the first time after a minute; this one looks at once.
    """
    outcome = await surestep.run(step_id, tool(to="ada"))
    assert outcome.state == "not_found"
    (record,) = await surestep.handle(step_id).records()
    closed = record.closed.model_copy(update={"at": datetime.now(UTC) - timedelta(hours=1)})
    looks = record.looks.model_copy(update={"at": None})
    old = record.model_copy(update={"closed": closed, "looks": looks})
    tools.found_later.add(record.action_id)
    watch_id = f"{step_id}/watch-early"
    await server.client.start_workflow(
        WATCH_WORKFLOW,
        WatchInput(step_id=step_id, visible=True, records=(old,)),
        id=watch_id,
        task_queue=surestep.task_queue,
    )

    async def listed() -> bool:
        return watch_id in {one.watch_id for one in await surestep.anomalies()}

    await until(listed)
    return watch_id
