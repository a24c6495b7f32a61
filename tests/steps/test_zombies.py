"""Workers that are frozen at a point on an action's way, and wake up when others have acted."""

import asyncio
import time
from datetime import timedelta

import pytest
from pydantic import BaseModel
from temporalio.client import Client, Interceptor, OutboundInterceptor

from surestep import Contract, Effect, State, Surestep, Tool, not_found
from surestep.tool import Tools
from tests.steps import facts, tools
from tests.steps.acting import acting_worker, deciding_worker, unhurried
from tests.steps.trap import SENDS, Point
from tests.steps.trio import SIGHTED, TRIO, all_alike, at, start
from tests.waiting import eventually
from worker import build_worker

NOTICED = timedelta(seconds=50)
# Past when the attempts of the frozen worker are noticed to be lost, ten seconds after their marks.
DEADLINE = timedelta(seconds=8)
LOST = "the worker was lost after it began to send"

pytestmark = pytest.mark.timeout(110)


async def test_a_frozen_worker_that_wakes_up_does_not_send(workers, client, world, step_id):
    """It slept before its mark, behind it, in the tool's code, and with requests under way."""
    before, marked, begun = (
        at(step_id, point) for point in (Point.SCHEDULED, Point.MARKED, Point.BEGUN)
    )
    under_way = at(step_id, "under-way")
    for tool, one in under_way.items():
        fault = "expect_kill" if tool is tools.blind else "hang_uncommitted"
        await world.fault(f"{one}/*", write=[fault])
    surestep = Surestep(client, task_queue=workers.queue)
    async with deciding_worker(client, unhurried(DEADLINE, *TRIO), workers.queue):
        first = await workers.start("-m", "tests.steps.trap", "SIGSTOP", "9", "12")
        await start(surestep, under_way)
        for one in under_way.values():
            await facts.arrived(world, f"{one}/*")
        await start(surestep, before, marked, begun)
        await first.says(SENDS)
        async with acting_worker(client, Tools(*tools.tools), task_queue=workers.queue):
            for one in before.values():
                outcome = await surestep.handle(one).outcome(within=NOTICED)
                assert outcome.state is State.CONFIRMED, facts.told(outcome)
                assert "lost before it sent anything" in facts.told(outcome)
            for one in (steps[tool] for steps in (marked, begun, under_way) for tool in SIGHTED):
                outcome = await surestep.handle(one).outcome(within=NOTICED)
                assert outcome.state is State.CONFIRMED, facts.told(outcome)
                assert LOST in facts.told(outcome)
            doubtful = [steps[tools.blind] for steps in (marked, begun, under_way)]
            parked = [await facts.parked(surestep, one, within=50) for one in doubtful]
            await world.release()
            first.thaw()
            first.ask_to_stop()
            assert await first.left() == 0
            for one, record in zip(doubtful, parked, strict=True):
                assert LOST in facts.told(record)
                assert await facts.record(surestep, one) == record
    for one in before.values():
        await all_alike(world, one, effects=1, posts=1)
    for steps, posts, of_the_blind in ((marked, 1, 0), (begun, 1, 0), (under_way, 2, 1)):
        for tool in SIGHTED:
            await all_alike(world, steps[tool], effects=1, posts=posts)
        await all_alike(world, steps[tools.blind], effects=of_the_blind, posts=of_the_blind)


async def test_what_a_frozen_worker_had_handed_to_the_machine_leaves_when_it_wakes_up(
    workers, client, world, step_id
):
    """The window that remains. The key covers it, or `in_flight` while it is longer than the
    freeze; to a blind tool nothing happens again."""
    steps = at(step_id, Point.WRITING)
    surestep = Surestep(client, task_queue=workers.queue)

    async def lost() -> bool:
        record = await facts.record(surestep, steps[tools.lookup])
        return bool(record and LOST in facts.told(record))

    async with deciding_worker(client, unhurried(DEADLINE, *TRIO), workers.queue):
        trap = ("-m", "tests.steps.trap", "SIGSTOP", "1", "1")
        frozen = await asyncio.gather(*(workers.start(*trap) for _ in steps))
        await start(surestep, steps)
        for one in frozen:
            await one.says(SENDS)
        by_tool = {
            tool: next(each for each in frozen if f"{one} is there" in each.log)
            for tool, one in steps.items()
        }
        async with acting_worker(client, Tools(*tools.tools), task_queue=workers.queue):
            await eventually(lost, within=50)
            by_tool[tools.lookup].thaw()
            outcome = await surestep.handle(steps[tools.keyed]).outcome(within=NOTICED)
            assert outcome.state is State.CONFIRMED, facts.told(outcome)
            await all_alike(world, steps[tools.keyed], effects=1, posts=1)
            by_tool[tools.keyed].thaw()
            outcome = await surestep.handle(steps[tools.lookup]).outcome(within=NOTICED)
            assert outcome.state is State.CONFIRMED, facts.told(outcome)
            assert "confirmed by a lookup" in facts.told(outcome)
            record = await facts.parked(surestep, steps[tools.blind], within=50)
            by_tool[tools.blind].thaw()
            for one in frozen:
                one.ask_to_stop()
                assert await one.left() == 0
            assert await facts.record(surestep, steps[tools.blind]) == record
    await all_alike(world, steps[tools.keyed], effects=1, posts=2)
    await all_alike(world, steps[tools.lookup], effects=1, posts=1)
    await all_alike(world, steps[tools.blind], effects=1, posts=1)


class Nothing(BaseModel):
    pass


class LateMarks(Interceptor):
    """The answer to the first mark takes three seconds. `asked`: when it was asked for."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        asked = self.asked

        class Late(OutboundInterceptor):
            async def heartbeat_async_activity(self, input):
                asked.append(time.monotonic())
                await super().heartbeat_async_activity(input)
                await asyncio.sleep(3 if len(asked) == 1 else 0)

        return Late(next)


async def test_time_that_passes_over_the_mark_is_taken_from_the_tool(client, step_id):
    """The look before the send has a time of its own, and that is not added either."""
    cut_off: list[float] = []
    contract = Contract(effect=Effect.IRREVERSIBLE, timeout=timedelta(seconds=4))
    slow = Tool("slow", Nothing, contract)

    @slow.execute
    async def _(args, call):
        try:
            await asyncio.Event().wait()
        finally:
            cut_off.append(time.monotonic())

    @slow.verify
    async def _(args, call):
        return not_found()

    async def is_cut_off() -> bool:
        return bool(cut_off)

    late, second = LateMarks(), timedelta(seconds=1)
    slowed = Client(**{**client.config(), "interceptors": [late]})
    async with build_worker(slowed, Tools(slow), task_queue=step_id, grace=second):
        await Surestep(client, task_queue=step_id).start(step_id, slow())
        await eventually(is_cut_off)
    assert cut_off[0] - late.asked[0] < 6
