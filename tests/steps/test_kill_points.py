"""A worker that is killed at each point on an action's way, and another that takes over.

The steps of a test stand at their points in one process, which kills itself when the last has come
there: `tests.steps.trap`.
"""

import signal
from datetime import timedelta

import pytest

from surestep import State, Surestep
from surestep.tool import Tools
from tests.steps import facts, tools
from tests.steps.acting import acting_worker, deciding_worker, unhurried
from tests.steps.trap import Point
from tests.steps.trio import SIGHTED, TRIO, all_alike, at, start
from worker import build_worker

# A dead worker is noticed ten seconds after its last sign of life, and a workflow task that it had
# ten seconds after that; the rest is for a slow machine.
NOTICED = timedelta(seconds=60)
# So long an attempt may take; a lost one is waited for until then.
DEADLINE = timedelta(seconds=8)
LOST = "the worker was lost after it began to send"

pytestmark = pytest.mark.timeout(110)


async def test_what_a_worker_killed_before_the_mark_had_is_done_by_another(
    workers, client, world, step_id
):
    planned, scheduled = at(step_id, Point.PLANNED), at(step_id, Point.SCHEDULED)
    surestep = Surestep(client, task_queue=workers.queue)
    first = await workers.start("-m", "tests.steps.trap", "SIGKILL", "6")
    await start(surestep, planned, scheduled)
    assert await first.left() == -signal.SIGKILL
    assert await facts.posts(world, f"{step_id}/*") == []
    async with build_worker(client, Tools(*tools.tools), task_queue=workers.queue):
        for one in (*planned.values(), *scheduled.values()):
            outcome = await surestep.handle(one).outcome(within=NOTICED)
            told = facts.told(outcome)
            assert outcome.state is State.CONFIRMED, told
            assert "ambiguous" not in told
            assert "a human is asked" not in told
            assert ("lost before it sent anything" in told) == (one in scheduled.values()), told
            await all_alike(world, one, effects=1, posts=1)


async def test_a_worker_killed_when_the_request_may_have_left_leaves_only_the_blind_in_doubt(
    workers, client, world, step_id
):
    """After the mark, with the request swallowed or applied and not answered, and with the answer
    not reported."""
    marked, answered = at(step_id, Point.MARKED), at(step_id, Point.ANSWERED)
    swallowed, applied = at(step_id, "swallowed"), at(step_id, "applied")
    surestep = Surestep(client, task_queue=workers.queue)
    for steps, fault in ((swallowed, "hang_uncommitted"), (applied, "expect_kill")):
        for one in steps.values():
            await world.fault(f"{one}/*", write=[fault])
    async with deciding_worker(client, unhurried(DEADLINE, *TRIO), workers.queue):
        first = await workers.start("-m", "tests.steps.trap", "SIGKILL", "6", "12")
        await start(surestep, swallowed, applied)
        for one in swallowed.values():
            await facts.arrived(world, f"{one}/*")
        for one in applied.values():
            await facts.applied(world, f"{one}/*")
        await start(surestep, marked, answered)
        assert await first.left() == -signal.SIGKILL
        async with acting_worker(client, Tools(*tools.tools), task_queue=workers.queue):
            for steps, posts in ((marked, 1), (swallowed, 2), (applied, 1), (answered, 1)):
                for tool in SIGHTED:
                    outcome = await surestep.handle(steps[tool]).outcome(within=NOTICED)
                    told = facts.told(outcome)
                    assert outcome.state is State.CONFIRMED, told
                    assert LOST in told
                    assert "a human is asked" not in told
                    await all_alike(world, steps[tool], effects=1, posts=posts)
            for steps, effects, posts in (
                (marked, 0, 0),
                (swallowed, 0, 1),
                (applied, 1, 1),
                (answered, 1, 1),
            ):
                one = steps[tools.blind]
                record = await facts.parked(surestep, one, within=60)
                assert record.state is State.UNKNOWN
                assert LOST in facts.told(record)
                await all_alike(world, one, effects=effects, posts=posts)


async def test_an_answer_that_was_recorded_survives_its_worker(workers, client, world, step_id):
    recorded = at(step_id, Point.RECORDED)
    surestep = Surestep(client, task_queue=workers.queue)
    first = await workers.start("-m", "tests.steps.trap", "SIGKILL", "3")
    await start(surestep, recorded)
    assert await first.left() == -signal.SIGKILL
    async with build_worker(client, Tools(*tools.tools), task_queue=workers.queue):
        for one in recorded.values():
            outcome = await surestep.handle(one).outcome(within=NOTICED)
            told = facts.told(outcome)
            assert outcome.state is State.CONFIRMED, told
            assert "confirmed by the service's response" in told
            assert "ambiguous" not in told
            await all_alike(world, one, effects=1, posts=1)
