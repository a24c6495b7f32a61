"""The server is stopped and killed, and started again: all goes on, nothing happens twice."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client

from surestep import CannotConnect, State, StepPending, Surestep
from surestep.testing import World
from tests.steps import facts, tools
from tests.steps.operators import charge
from tests.steps.processes import Workers
from tests.steps.server import Server
from workflows.dispatch import HEARTBEAT

SETTLED = timedelta(seconds=50)

# Shorter than what the SDK tries by itself, and longer than an attempt may be silent.
SHORT = 3.0
LONG = HEARTBEAT.total_seconds() + 2

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    server = Server(tmp_path)
    await server.start()
    yield server
    await server.end()


@pytest.fixture
async def client(server: Server) -> Client:
    return await server.client()


@pytest.fixture
async def workers(
    server: Server, world: World, tmp_path: Path, step_id: str
) -> AsyncIterator[Workers]:
    async with AsyncExitStack() as stack:
        yield Workers(stack, server.address, world.url, tmp_path, queue=step_id)


@pytest.fixture
def surestep(client: Client, workers: Workers) -> Surestep:
    return Surestep(client, task_queue=workers.queue)


TRIO = (tools.keyed, tools.lookup, tools.blind)


async def under_way(surestep: Surestep, world: World, place: str) -> list[str]:
    """Steps whose effect is there and whose answer is held back by the service."""
    steps = {f"{place}/{tool.name}": tool for tool in TRIO}
    for one, tool in steps.items():
        await world.fault(f"{one}/*", write=["expect_kill"])
        await surestep.start(one, charge(tool))
    for one in steps:
        await facts.applied(world, f"{one}/*")
    return list(steps)


def said(caplog: pytest.LogCaptureFixture, *words: str) -> list[str]:
    """What was warned of, in lines that hold all of the words."""
    lines = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    return [line for line in lines if all(word in line for word in words)]


@pytest.mark.parametrize("long", [False, True], ids=["stopped", "killed for long"])
async def test_everything_goes_on_when_the_server_is_back(
    long, server, workers, surestep, world, step_id, caplog
):
    worker = await workers.start(tool_seconds=60)
    # Requests under way: some are answered while the server is away, others when it is back.
    meanwhile = await under_way(surestep, world, f"{step_id}/meanwhile")
    afterwards = await under_way(surestep, world, f"{step_id}/afterwards")
    # In doubt: one is looked at again and again, two wait for a human's word.
    looking, parked, given_up = (f"{step_id}/{name}" for name in ("looking", "parked", "given-up"))
    await world.fault(f"{looking}/*", write=["reply_lost"], lookup=["miss"] * 1000)
    await surestep.start(looking, charge(tools.hasty))
    for one in (parked, given_up):
        await world.fault(f"{one}/*", write=["never_arrives"])
        await surestep.start(one, charge(tools.blind))
        seen = await facts.parked(surestep, one, within=60)
    await facts.parked(surestep, looking)
    # On its way to its mark, behind a look that takes its time.
    unmarked = f"{step_id}/unmarked"
    await world.fault(f"{unmarked}/*", lookup=["hang"])
    await surestep.start(unmarked, charge(tools.lookup))
    await facts.arrived(world, f"{unmarked}/*", method="GET")

    new = f"{step_id}/new"
    retry = {"by": "Ada", "id": "d1", "version": seen.version}
    abandon = {"verdict": "abandon"} | retry | {"id": "d2"}
    signal_to = surestep.client.get_workflow_handle(given_up).signal
    waiting = asyncio.create_task(surestep.handle(parked).outcome())
    await asyncio.sleep(0.1)
    await server.end(signal.SIGKILL if long else signal.SIGTERM)
    running = asyncio.create_task(surestep.run(new, charge(tools.keyed)))
    deciding = asyncio.create_task(surestep.decide(parked, "retry", **retry))
    signalling = asyncio.create_task(signal_to("decide", abandon))
    await world.fault(f"{looking}/*", lookup=[])
    await world.release(f"{step_id}/meanwhile/*")
    await asyncio.sleep(LONG if long else SHORT)
    if long:
        await worker.says(f"Temporal at {server.address} does not answer")
    assert await facts.posts(world, f"{unmarked}/*") == [], "it was sent without a mark"
    await server.start()

    await asyncio.wait([deciding, signalling])
    again = await surestep.decide(parked, "retry", **retry)
    if deciding.exception():
        assert isinstance(deciding.exception(), CannotConnect)
        assert again.taken or "taken before" in again.why
    else:
        assert (deciding.result().taken, again.taken) == (True, False)
    if signalling.exception():
        await signal_to("decide", abandon)
    await world.release()
    others = (*meanwhile, *afterwards, looking, given_up, unmarked)
    ended = {one: await surestep.handle(one).outcome(within=SETTLED) for one in others}
    ended |= {parked: await waiting, new: await running}
    for one, outcome in ended.items():
        happened = one != given_up
        assert outcome.state is (State.CONFIRMED if happened else State.NOT_FOUND), one
        assert await world.count(f"{one}/*") == int(happened)
        posts = await facts.posts(world, f"{one}/*")
        assert len(posts) == (2 if one == parked else 1), one
        assert len({(each.key, each.sha256) for each in posts}) == 1
        asked = "a human is asked" in facts.told(outcome)
        assert asked is (one in (looking, parked, given_up)), facts.told(outcome)
    assert worker.alive
    if long:
        await worker.says(f"Temporal at {server.address} answers again")
        assert worker.log.count("does not answer") == 1
        for one in (parked, new):
            assert len(said(caplog, server.address, "does not answer", one)) == 1
        assert said(caplog, f"{parked}, waited for since", "nothing to submit again")


async def test_who_meets_an_outage_is_told_what_is_not_known_and_what_is_safe(
    server, workers, surestep, world, step_id
):
    parked, new = f"{step_id}/parked", f"{step_id}/new"
    await workers.start()
    await world.fault(f"{parked}/*", write=["reply_lost"])
    await surestep.start(parked, charge(tools.blind))
    confirm = {"by": "Ada", "version": (await facts.parked(surestep, parked, within=60)).version}
    await server.end()
    pending, start, decide, recall = await asyncio.gather(
        surestep.run(parked, charge(tools.blind), within=timedelta(seconds=1)),
        surestep.start(new, charge(tools.keyed)),
        surestep.decide(parked, "confirm", **confirm),
        surestep.recall(new),
        return_exceptions=True,
    )
    for error in (pending, start, decide, recall):
        assert isinstance(error, CannotConnect), error
        assert f"Temporal at {server.address} does not answer" in str(error)
    assert "Submit the same step again" in str(start)
    assert "Whether there is a step" in str(recall)
    with pytest.raises(StepPending, match="do not repeat it") as late:
        await surestep.handle(parked).outcome(within=timedelta(seconds=1))
    assert server.address in str(late.value)
    await server.start()
    decision_id = str(decide).split("id='")[1].split("'")[0]
    for first in (True, False):
        ruling = await surestep.decide(parked, "confirm", id=decision_id, **confirm)
        assert ruling.taken is first
    for one, tool in ((parked, tools.blind), (new, tools.keyed)):
        outcome = await surestep.run(one, charge(tool), within=SETTLED)
        assert outcome.state is State.CONFIRMED
        assert await world.count(f"{one}/*") == 1


async def test_a_settled_step_is_told_also_to_one_who_does_not_wait(
    workers, surestep, world, step_id
):
    await workers.start()
    await surestep.run(step_id, charge(tools.keyed), within=SETTLED)
    outcome = await surestep.handle(step_id).outcome(within=timedelta(0))
    assert outcome.state is State.CONFIRMED
