"""A restored database has forgotten what was sent since: docs/deploy.md, "Back-up and restore"."""

import asyncio
import shutil
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from signal import SIGTERM

import pytest
from temporalio.client import WorkflowExecutionStatus

from surestep import State, Surestep, Tools
from surestep.embedded_process import find_binary
from surestep.protocol import STEP_WORKFLOW, TASK_QUEUE
from tests.steps import facts, tools
from tests.steps.operators import as_another_language, charge
from tests.steps.server import Server
from tests.waiting import eventually
from worker import build_worker

SETTLED = timedelta(seconds=60)
STEPS = {"keyed": tools.keyed, "lookup": tools.lookup, "blind": tools.blind, "left": tools.blind}
ALL_BUT_ONE = "WorkflowType = 'AgentStep' AND ExecutionStatus = 'Running' AND WorkflowId != 'left'"

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
async def server(tmp_path):
    (tmp_path / "server").mkdir()
    server = Server(tmp_path / "server")
    await server.start()
    yield server
    await server.end()


@asynccontextmanager
async def working(server):
    client = await server.client()
    async with build_worker(client, Tools(*tools.tools), grace=timedelta(seconds=1)):
        yield Surestep(client)


async def operate(server, *words, query):
    """One of the page's commands on all the open steps, but for the one that is forgotten."""
    binary = find_binary()
    assert binary
    command = [binary, "workflow", *words, "--reason", "restored", "--yes", "--query", query]

    async def is_taken():
        """A server works on one batch at a time, and refuses the next until then."""
        done = await asyncio.create_subprocess_exec(
            *command, "--address", server.address, stderr=asyncio.subprocess.DEVNULL
        )
        return await done.wait() == 0

    await eventually(is_taken, within=40)


async def test_open_steps_are_reset_after_a_restore_and_one_that_is_not_sends_again(
    server, world, monkeypatch, tmp_path
):
    monkeypatch.setenv("WORLD_URL", world.url)
    data, copy = tmp_path / "server", tmp_path / "copy"
    runs: dict[str, str] = {}

    await world.stop_listening()
    async with working(server) as surestep:
        for name, tool in STEPS.items():
            await surestep.start(name, charge(tool))
        for name in STEPS:

            async def waits(name=name):
                known = await facts.record(surestep, name)
                return known and "was not sent" in facts.told(known)

            await eventually(waits)
            runs[name] = (await surestep.handle(name).describe()).run_id
    client = await server.client()
    step = as_another_language(tools.blind)
    await client.start_workflow(STEP_WORKFLOW, step, id="not-begun", task_queue=TASK_QUEUE)
    await server.end(SIGTERM)
    shutil.copytree(data, copy)

    await server.start()
    await world.listen_again()
    async with working(server) as surestep:
        for name in (*STEPS, "not-begun"):
            outcome = await surestep.handle(name).outcome(within=SETTLED)
            assert outcome.state is State.CONFIRMED, facts.told(outcome)
    await server.end(SIGTERM)

    shutil.rmtree(data)
    shutil.copytree(copy, data)
    await server.start()
    restored = datetime.now(UTC)
    await operate(server, "reset", "--type", "LastWorkflowTask", query=ALL_BUT_ONE)
    client = await server.client()

    async def all_that_had_begun_have_new_runs():
        described = [await client.get_workflow_handle(name).describe() for name in STEPS]
        return {one.id for one in described if one.run_id == runs[one.id]} == {"left"}

    await eventually(all_that_had_begun_have_new_runs)
    older = f"{ALL_BUT_ONE} AND StartTime < '{restored.isoformat()}'"
    await operate(server, "terminate", query=older)
    not_begun = client.get_workflow_handle("not-begun")

    async def is_terminated():
        return (await not_begun.describe()).status is WorkflowExecutionStatus.TERMINATED

    await eventually(is_terminated)
    async with working(server) as surestep:
        await surestep.start("not-begun", charge(tools.blind))
        for name in ("keyed", "lookup"):
            outcome = await surestep.handle(name).outcome(within=SETTLED)
            assert outcome.state is State.CONFIRMED, facts.told(outcome)
            assert await world.count(f"{name}/*") == 1
        for name in ("blind", "not-begun"):
            await facts.parked(surestep, name, within=40)
            assert await world.count(f"{name}/*") == 1
        await surestep.handle("left").outcome(within=SETTLED)
        assert await world.count("left/*") == 2, "so nothing but the reset has protected the others"
