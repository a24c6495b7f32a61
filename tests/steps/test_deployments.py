"""Workers are replaced while steps are open: all go on, nobody is asked, nothing happens twice."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import WorkflowExecutionStatus
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from surestep import State, Surestep, Tools
from surestep.embedded_process import find_binary
from surestep.protocol import STEP_WORKFLOW
from tests.saying import say
from tests.steps import facts, releases, tools
from tests.steps.operators import charge
from tests.waiting import eventually
from worker import build_worker

SETTLED = timedelta(seconds=50)
AFTER_SETBACKS = timedelta(seconds=150)  # each makes the next pause twice as long
FIRST = {"SURESTEP_TOOLS": "tests.steps.releases:first"}
SECOND = {"SURESTEP_TOOLS": "tests.steps.releases:second"}

pytestmark = pytest.mark.timeout(150)


@workflow.defn(name=STEP_WORKFLOW)
class OfALaterRelease:
    """What it hands to the run that continues it, on another queue, is readable to itself alone."""

    @workflow.run
    async def run(self, step: dict[str, Any]) -> str:
        if not step["records"]:
            later = {"records": [{"of": "a later release"}]}
            workflow.continue_as_new(step | later, task_queue=f"{workflow.info().task_queue}-2")
        return "settled"


class Deployment:
    """A deployment of worker versions, handled with Temporal's own command line tool."""

    def __init__(self, address: str, name: str) -> None:
        self._address = address
        self._name = name

    def build(self, build_id: str) -> dict[str, str]:
        """The settings of a worker of this version."""
        return {"SURESTEP_DEPLOYMENT": self._name, "SURESTEP_BUILD_ID": build_id}

    async def set(self, *how: str) -> None:
        """Repeated until the server has heard of the version's workers."""

        async def done() -> bool:
            return "Successfully" in await self._told(*how, "--yes", "--deployment-name")

        await eventually(done, within=30)

    async def version(self, build_id: str) -> str:
        told = await self._told("describe-version", "--build-id", build_id, "--deployment-name")
        return " ".join(told.split())

    async def _told(self, *command: str) -> str:
        binary = find_binary()
        assert binary
        words = ("worker", "deployment", *command, self._name)
        process = await asyncio.create_subprocess_exec(
            *(binary, "--address", self._address, *words),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        told, _ = await process.communicate()
        return told.decode()


@pytest.fixture
def deployment(temporal_address: str, step_id: str) -> Deployment:
    return Deployment(temporal_address, step_id.replace("/", "-"))


async def test_steps_outlive_the_workers_of_every_version(
    deployment, workers, client, world, step_id
):
    """From no versions to the first, to the second, back to the first, and to none."""
    surestep = Surestep(client, task_queue=workers.queue)

    async def park(name: str) -> None:
        await world.fault(f"{step_id}/{name}/*", write=["reply_lost"])
        await surestep.start(f"{step_id}/{name}", charge(tools.blind))
        await facts.parked(surestep, f"{step_id}/{name}", within=60)

    async def goes_on(name: str) -> None:
        one = f"{step_id}/{name}"
        assert (await say(surestep, one, "confirm", by="Ada")).taken
        outcome = await surestep.handle(one).outcome(within=SETTLED)
        assert outcome.state is State.CONFIRMED
        assert await world.count(f"{one}/*") == 1

    unversioned = await workers.start()
    await park("before")
    first = await workers.start(**deployment.build("v1"))
    await first.says("gets work once it is current")
    await park("still-before")
    await deployment.set("set-current-version", "--build-id", "v1")
    unversioned.ask_to_stop()
    assert await unversioned.left() == 0
    await goes_on("before")

    await park("first")
    under_way = f"{step_id}/under-way"
    await world.fault(f"{under_way}/*", write=["expect_kill"])
    await surestep.start(under_way, charge(tools.blind))
    await facts.applied(world, f"{under_way}/*")
    second = await workers.start(**deployment.build("v2"))
    await deployment.set("set-ramping-version", "--percentage", "50", "--build-id", "v2")
    await deployment.set("set-current-version", "--build-id", "v2")
    first.ask_to_stop()
    await goes_on("first")
    assert first.alive, "it waits for the request that is under way"
    await world.release()
    assert await first.left() == 0
    outcome = await surestep.handle(under_way).outcome(within=SETTLED)
    assert "confirmed by the service's response" in facts.told(outcome)
    assert await world.count(f"{under_way}/*") == 1
    assert "DrainageStatus draining" in await deployment.version("v1")
    assert await facts.record(surestep, under_way), "a closed step can still be looked at"

    await park("second")
    first = await workers.start(**deployment.build("v1"))
    await deployment.set("set-current-version", "--build-id", "v1")
    second.ask_to_stop()
    assert await second.left() == 0
    await goes_on("second")

    unversioned = await workers.start()
    await deployment.set("set-current-version", "--unversioned")
    first.ask_to_stop()
    assert await first.left() == 0
    await goes_on("still-before")


async def test_an_action_in_flight_keeps_the_contract_that_it_was_planned_under(
    workers, client, world, step_id
):
    """Of the two workers one could prove absence and may send again, the other has to ask."""
    surestep = Surestep(client, task_queue=workers.queue)
    less, more = (f"{step_id}/{name}" for name in ("less", "more"))
    worker = await workers.start(grace=0.1, tool_seconds=3, **FIRST)
    for one, tool in ((less, releases.less_sure), (more, releases.more_sure)):
        await world.fault(f"{one}/*", write=["hang_uncommitted"])
        await surestep.start(one, charge(tool))
        await facts.arrived(world, f"{one}/*")
    worker.ask_to_stop()
    await worker.left()
    await workers.start(tool_seconds=3, **SECOND)
    outcome = await surestep.handle(less).outcome(within=SETTLED)
    assert outcome.state is State.CONFIRMED, facts.told(outcome)
    assert await world.count(f"{less}/*") == 1
    assert len(await facts.posts(world, f"{less}/*")) == 2
    record = await facts.parked(surestep, more, within=50)
    assert "does not promise when a miss would prove anything" in facts.told(record)
    assert len(await facts.posts(world, f"{more}/*")) == 1


@pytest.mark.timeout(300)
async def test_an_action_that_a_worker_does_not_know_any_more_waits_and_says_so_until_one_does(
    workers, client, world, step_id
):
    surestep = Surestep(client, task_queue=workers.queue)
    unsent, in_doubt, changed = (f"{step_id}/{name}" for name in ("unsent", "in-doubt", "changed"))
    await world.fault(f"{in_doubt}/*", write=["reply_lost"], lookup=["error:503"] * 1000)
    worker = await workers.start(**FIRST)
    await surestep.start(in_doubt, charge(releases.lost))
    await facts.parked(surestep, in_doubt)
    await world.stop_listening()
    for one, tool in ((unsent, releases.lost), (changed, releases.changed)):
        await surestep.start(one, charge(tool))
        await told_of(surestep, one, "was not sent: not connected")
    worker.ask_to_stop()
    await worker.left()
    worker = await workers.start(**SECOND)
    await world.listen_again()
    await world.fault(f"{in_doubt}/*", lookup=[])
    for one in (unsent, in_doubt):
        await told_of(surestep, one, "no tool is named 'lost'")
    await told_of(surestep, changed, "note: Field required")
    for one in (unsent, changed):
        assert await facts.posts(world, f"{one}/*") == []
    await worker.kill()
    await workers.start(**FIRST)
    for one in (unsent, in_doubt, changed):
        outcome = await surestep.handle(one).outcome(within=AFTER_SETBACKS)
        assert outcome.state is State.CONFIRMED, facts.told(outcome)
        assert await world.count(f"{one}/*") == 1
        assert len(await facts.posts(world, f"{one}/*")) == 1


async def test_what_only_a_later_release_can_read_waits_for_it_and_is_no_end_of_the_step(
    client, step_id
):
    """Were it one, the step could be submitted again as if nothing had been sent."""
    handle = client.get_workflow_handle(step_id)

    def later(queue: str) -> Worker:
        return Worker(
            client,
            task_queue=queue,
            workflows=[OfALaterRelease],
            workflow_runner=UnsandboxedWorkflowRunner(),
        )

    async def cannot_be_read() -> bool:
        events = (await handle.fetch_history()).events
        failures = (event.workflow_task_failed_event_attributes.failure for event in events)
        return any("records of the run before" in failure.message for failure in failures)

    async with (
        later(step_id),
        build_worker(client, Tools(tools.keyed), task_queue=f"{step_id}-2", grace=timedelta(0)),
    ):
        surestep = Surestep(client, task_queue=step_id)
        await surestep.start(step_id, charge(tools.keyed))
        await eventually(cannot_be_read)
    assert (await handle.describe()).status is WorkflowExecutionStatus.RUNNING
    async with later(f"{step_id}-2"):
        assert await asyncio.wait_for(handle.result(), SETTLED.total_seconds()) == "settled"


async def told_of(surestep: Surestep, step_id: str, words: str) -> None:
    """Waits until whoever opens the step in the Web UI reads these words."""

    async def shown() -> bool:
        return words in await facts.details(surestep, step_id)

    await eventually(shown, within=50)
