"""What agent code sees: pending steps, recalled steps, unresolved ones, and the limits."""

import subprocess
import time
from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from surestep import Advice, InvalidArguments, InvalidStepId, State, StepPending, Surestep
from surestep.embedded_folder import IP, Ports
from surestep.embedded_process import answers, command_line, find_binary, free_port
from surestep.tool import Tools
from tests.steps import facts, tools
from tests.waiting import eventually
from worker import build_worker

LIMIT = timedelta(seconds=30)


def charge(tool, **arguments):
    return tool(**{"order": "o-1", "cents": 2500} | arguments)


async def test_recall_tells_of_a_step_that_exists_and_of_none(working, step_id):
    async with working(tools.keyed) as surestep:
        assert await surestep.recall(step_id) is None
        outcome = await surestep.run(step_id, charge(tools.keyed))
        assert await surestep.recall(step_id) == outcome


async def test_who_does_not_wait_long_gets_a_handle_and_no_invitation_to_repeat(
    working, world, step_id
):
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep:
        for _ in range(3):
            with pytest.raises(StepPending, match="do not repeat it") as pending:
                await surestep.run(step_id, charge(tools.blind), within=timedelta(milliseconds=300))
        await facts.parked(surestep, step_id)
        await surestep.decide(step_id, "confirm", by="Ada")
        outcome = await pending.value.handle.outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert outcome.advice is Advice.DONE
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_what_waits_for_a_human_is_listed_until_it_is_answered(working, world, step_id):
    ids = {f"{step_id}/{number}" for number in range(3)}
    await world.fault(f"{step_id}/0/*", write=["reply_lost"])
    await world.fault(f"{step_id}/1/*", write=["never_arrives"])

    async def listed():
        return {one.step_id: one for one in await surestep.unresolved() if one.step_id in ids}

    async def there_are(number):
        found = await listed()
        return found if len(found) == number else None

    async with working(tools.blind) as surestep:
        for one in ids:
            await surestep.start(one, charge(tools.blind), run="run-42")
        found = await eventually(lambda: there_are(2))
        assert set(found) == {f"{step_id}/0", f"{step_id}/1"}
        for one in found.values():
            assert (one.state, one.tools, one.run) == ("unknown", ("blind",), "run-42")
            assert one.needs_human
            assert one.unknown_since
        await surestep.decide(f"{step_id}/0", "confirm", by="Ada")
        await eventually(lambda: there_are(1))
        await surestep.decide(f"{step_id}/1/blind", "abandon", by="Ada")

        async def none():
            return not await listed()

        await eventually(none)


async def test_a_step_submitted_without_any_worker_is_done_when_one_comes(
    workers, client, world, step_id
):
    surestep = Surestep(client, task_queue=workers.queue)
    with pytest.raises(StepPending) as pending:
        await surestep.run(step_id, charge(tools.keyed), within=timedelta(milliseconds=200))
    assert await world.requests() == []
    await workers.start()
    outcome = await pending.value.handle.outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert await world.count(f"{step_id}/keyed") == 1


@pytest.mark.parametrize(
    "tool", [tools.keyed, tools.lookup, tools.hasty], ids=lambda tool: tool.name
)
async def test_an_answer_too_large_for_the_history_is_no_failure(tool, working, world, step_id):
    await world.fault(f"{step_id}/*", write=["huge:3000000"])
    async with working(tool) as surestep:
        outcome = await surestep.run(step_id, charge(tool), within=LIMIT)
    (effect,) = await world.effects(f"{step_id}/*")
    assert outcome.state is State.CONFIRMED
    assert outcome.actions[0].receipt.id == effect.id
    assert len(outcome.model_dump_json()) < 200_000


async def test_arguments_over_the_limit_are_refused_before_anything_starts(working, world, step_id):
    async with working(tools.keyed) as surestep:
        with pytest.raises(InvalidArguments, match="reference"):
            charge(tools.keyed, order="x" * 1_100_000)
        half = [charge(tools.keyed, order="x" * 150_000).named(f"part-{n}") for n in range(2)]
        with pytest.raises(InvalidArguments, match="several steps"):
            await surestep.run(step_id, *half)
        assert not await surestep.handle(step_id).exists()
        outcome = await surestep.run(step_id, half[0])
    assert outcome.state is State.CONFIRMED
    assert await world.count() == 1


@pytest.mark.parametrize("bad", ["", " ", "räum", "a\nb", "x" * 201, "../a", "a b", "a/b\x00"])
async def test_an_id_that_cannot_be_a_key_is_refused_before_anything_starts(bad, working, world):
    async with working(tools.keyed) as surestep:
        with pytest.raises(InvalidStepId):
            await surestep.run(bad, charge(tools.keyed))
    assert await world.requests() == []


@pytest.fixture
def bare_address(tmp_path):
    """A server on which nobody has registered the search attributes."""
    ports, http = Ports(grpc=free_port(), ui=free_port()), free_port()
    command = command_line(find_binary(), tmp_path / "bare.db", ports, http)
    while "--search-attribute" in command:
        at = command.index("--search-attribute")
        del command[at : at + 2]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while not answers(http):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield f"{IP}:{ports.grpc}"
    finally:
        server.terminate()
        server.wait(20)


async def test_without_search_attributes_steps_work_and_only_the_list_is_missing(
    bare_address, world, step_id
):
    await world.fault(f"{step_id}/0/*", write=["reply_lost"])
    client = await Client.connect(bare_address, data_converter=pydantic_data_converter)
    known = Tools(tools.keyed, tools.blind)
    async with build_worker(client, known, task_queue="bare", grace=timedelta(0)):
        surestep = Surestep(client, task_queue="bare")
        outcome = await surestep.run(f"{step_id}/1", charge(tools.keyed), within=LIMIT)
        assert outcome.state is State.CONFIRMED
        with pytest.raises(StepPending):
            await surestep.run(
                f"{step_id}/0", charge(tools.blind), within=timedelta(milliseconds=300)
            )
        await facts.parked(surestep, f"{step_id}/0")
        assert "unknown" in await facts.details(surestep, f"{step_id}/0")
        await surestep.decide(f"{step_id}/0", "confirm", by="Ada")
        outcome = await surestep.handle(f"{step_id}/0").outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert await world.count(f"{step_id}/*") == 2
