import asyncio
from datetime import timedelta

import pytest

from surestep import Tools
from worker import build_worker

from . import tools
from .conftest import parked

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_decision_is_taken_once_and_answered_too_late_ever_after(terminal, surestep):
    await surestep.start("decide/once", tools.letter(to="ada", fate="lost"))
    await parked(surestep, "decide/once")

    stale = await terminal("decide", "decide/once", "confirm", "--version", "1")
    assert stale.code == 7
    assert "look at it again" in stale.shown

    taken = await terminal(
        "decide", "decide/once/letter", "confirm", "--note", "it is in the log", "--id", "L-77"
    )
    assert taken.code == 0
    assert "taken: the action is confirmed on your word" in taken.shown

    outcome = await surestep.recall("decide/once")
    assert outcome.actions[0].receipt.id == "L-77"
    assert any("ada" in line.text and "it is in the log" in line.text for line in outcome.evidence)

    late = await terminal("decide", "decide/once/letter", "abandon")
    assert late.code == 7
    assert "too late: the step is already settled as confirmed" in late.out


async def test_what_cannot_be_decided_is_said_before_anything_is_sent(terminal, surestep):
    lost = tools.letter(to="ada", fate="lost")
    await surestep.start("decide/two", lost.named("first"), lost.named("second"))
    nobody, several, other = await asyncio.gather(
        terminal("decide", "decide/nobody", "confirm"),
        terminal("decide", "decide/two", "confirm"),
        terminal("decide", "decide/two/third", "confirm"),
    )
    assert nobody.code == 4
    assert "no step 'decide/nobody'" in nobody.said
    assert (several.code, other.code) == (2, 2)
    assert "actions first, second" in several.said
    assert "has no action 'third'" in other.said


async def test_without_a_worker_a_decision_is_left_as_a_signal(elsewhere, server, surestep):
    queue = "decide-later"
    alone = elsewhere.where(SURESTEP_TASK_QUEUE=queue)
    step = type(surestep)(server.client, task_queue=queue)
    async with build_worker(server.client, Tools(tools.letter), task_queue=queue):
        await step.start("decide/later", tools.letter(to="ada", fate="lost"))
        await parked(step, "decide/later")

    left = await alone("decide", "decide/later", "confirm", "--note", "seen")
    assert left.code == 6
    assert "as a signal" in left.out
    assert "`python worker.py`" in left.said

    async with build_worker(server.client, Tools(tools.letter), task_queue=queue):
        outcome = await step.recall("decide/later", within=timedelta(seconds=15))
    assert outcome.state == "confirmed"
    assert tools.posted.count("decide/later/letter") == 1
