"""Workers that are told to stop: what is under way is finished, or says why it was not."""

import asyncio
import time
from datetime import timedelta
from signal import SIGINT, SIGTERM

import pytest
from pydantic import BaseModel
from temporalio.worker import Worker

from surestep import (
    Advice,
    Contract,
    Effect,
    Receipt,
    State,
    Surestep,
    Tool,
    Tools,
    confirmed,
    not_found,
)
from tests.steps import facts, tools
from tests.steps.operators import charge
from tests.steps.slow import Slow
from tests.steps.trap import SENDS, Point
from tests.steps.trio import SIGHTED, all_alike, at, start
from tests.waiting import eventually
from worker import build_worker, workflow_runner

NOTICED = timedelta(seconds=50)
SECOND = timedelta(seconds=1)

pytestmark = pytest.mark.timeout(100)


@pytest.mark.parametrize(("first", "then"), [(SIGTERM, SIGINT), (SIGINT, SIGTERM)])
async def test_a_worker_that_is_stopped_waits_for_its_request(
    first, then, workers, client, world, step_id
):
    """However often it is told."""
    key = f"{step_id}/blind"
    await world.fault(key, write=["expect_kill"])
    surestep = Surestep(client, task_queue=workers.queue)
    stopped = await workers.start(grace=30)
    handle = await surestep.start(step_id, charge(tools.blind))
    await facts.arrived(world, key)
    stopped.ask_to_stop(first)
    await stopped.says("stopping")
    await workers.start()
    stopped.ask_to_stop(then)
    stopped.ask_to_stop(first)
    assert stopped.alive
    await world.release()
    assert await stopped.left() == 0
    outcome = await handle.outcome(within=NOTICED)
    assert outcome.state is State.CONFIRMED, facts.told(outcome)
    assert outcome.advice is Advice.DONE
    assert "confirmed by the service's response" in facts.told(outcome)
    await all_alike(world, step_id, effects=1, posts=1)


async def test_a_request_cut_off_by_a_stop_is_in_doubt_and_says_why(
    workers, client, world, step_id
):
    steps = at(step_id, "cut-off")
    surestep = Surestep(client, task_queue=workers.queue)
    stopped = await workers.start(grace=0.5, tool_seconds=6)
    for one in steps.values():
        await world.fault(f"{one}/*", write=["expect_kill"])
    await start(surestep, steps)
    for one in steps.values():
        await facts.applied(world, f"{one}/*")
    stopped.ask_to_stop()
    assert await stopped.left() == 0
    async with build_worker(client, Tools(*tools.tools), task_queue=workers.queue, grace=SECOND):
        for tool in SIGHTED:
            outcome = await surestep.handle(steps[tool]).outcome(within=NOTICED)
            assert outcome.state is State.CONFIRMED, facts.told(outcome)
            assert "the worker was shut down" in facts.told(outcome)
        record = await facts.parked(surestep, steps[tools.blind], within=50)
    told = facts.told(record)
    assert "the worker was shut down" in told
    assert "cancelled" not in told
    for one in steps.values():
        await all_alike(world, one, effects=1, posts=1)


async def test_a_stop_in_the_middle_of_a_workflow_task_or_of_a_look_loses_nothing(
    workers, client, world, step_id
):
    planned, recorded, looked = (
        at(step_id, point) for point in (Point.PLANNED, Point.RECORDED, Point.LOOKED)
    )
    looked.pop(tools.blind)
    for one in looked.values():
        await world.fault(f"{one}/*", write=["reply_lost"])
    surestep = Surestep(client, task_queue=workers.queue)
    stopped = await workers.start("-m", "tests.steps.trap", "SIGTERM", "8")
    await start(surestep, planned, looked)
    await stopped.says("; 3 are missing")
    await start(surestep, recorded)
    await stopped.says(SENDS)
    assert await stopped.left() == 0
    async with build_worker(client, Tools(*tools.tools), task_queue=workers.queue, grace=SECOND):
        for one in (*planned.values(), *recorded.values(), *looked.values()):
            outcome = await surestep.handle(one).outcome(within=NOTICED)
            told = facts.told(outcome)
            assert outcome.state is State.CONFIRMED, told
            assert "lost" not in told, told
            assert ("ambiguous" in told) == (one in looked.values()), told
            assert "did not end" not in told
            await all_alike(world, one, effects=1, posts=1)


async def test_a_look_that_a_stop_cuts_off_is_no_miss(workers, client, world, step_id):
    """The second look, the one that follows the lost reply."""
    key = f"{step_id}/lookup"
    await world.fault(key, write=["reply_lost"], lookup=["honest", "hang"])
    surestep = Surestep(client, task_queue=workers.queue)

    async def looks_again() -> bool:
        asked = [one for one in await world.requests(key) if one.method == "GET"]
        return len(asked) > 1

    stopped = await workers.start(grace=0.5)
    await surestep.start(step_id, charge(tools.lookup))
    await eventually(looks_again)
    stopped.ask_to_stop()
    assert await stopped.left() == 0
    async with build_worker(client, Tools(*tools.tools), task_queue=workers.queue, grace=SECOND):
        outcome = await surestep.handle(step_id).outcome(within=NOTICED)
    assert outcome.state is State.CONFIRMED, facts.told(outcome)
    assert "a lookup failed: the worker was shut down" in facts.told(outcome)
    await all_alike(world, step_id, effects=1, posts=1)


async def test_a_worker_of_which_a_workflow_task_took_too_long_can_still_be_stopped(
    client, step_id
):
    handle = await client.start_workflow(Slow.run, id=step_id, task_queue=step_id)
    await asyncio.gather(*(handle.signal(Slow.poke) for _ in range(40)))
    stopped = Worker(
        client, task_queue=step_id, workflows=[Slow], workflow_runner=workflow_runner()
    )
    deciding = stopped._workflow_worker
    deciding._deadlock_timeout_seconds = 0.2  # two seconds, where nobody touches it

    async def took_too_long() -> bool:
        return deciding._could_not_evict_count > 0

    async with asyncio.timeout(NOTICED.total_seconds()), stopped:
        await eventually(took_too_long)
    await handle.terminate()


async def test_a_thread_that_outlives_its_worker_s_stop_is_waited_for(working, step_id):
    """It keeps to the deadline, and sends when the attempt has long been cut off."""

    class Nothing(BaseModel):
        pass

    effects: list[str] = []
    threads: list[str] = []
    begun = asyncio.Event()
    promised = Contract(
        effect=Effect.IRREVERSIBLE, in_flight=SECOND, visibility_lag=0 * SECOND, timeout=8 * SECOND
    )
    threaded = Tool("threaded", Nothing, promised)

    def send(name: str, key: str, pause: float) -> Receipt:
        time.sleep(pause)
        effects.append(key)
        threads.append(name)
        return Receipt(id=f"effect-{len(effects)}")

    @threaded.execute
    async def _(args, call):
        name, pause = ("second", 0) if begun.is_set() else ("first", 4)
        begun.set()
        return await asyncio.to_thread(send, name, call.action_id, pause)

    @threaded.verify
    async def _(args, call):
        return confirmed() if call.action_id in effects else not_found()

    async def first_is_over() -> bool:
        return "first" in threads

    async with working(threaded, grace=0.2 * SECOND) as surestep:
        await surestep.start(step_id, threaded())
        await asyncio.wait_for(begun.wait(), 20)
    async with working(threaded) as surestep:
        outcome = await surestep.handle(step_id).outcome(within=NOTICED)
        await eventually(first_is_over)
    assert outcome.state is State.CONFIRMED, facts.told(outcome)
    assert "the worker was shut down" in facts.told(outcome)
    assert effects == [f"{step_id}/threaded"]
