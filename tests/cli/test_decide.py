import asyncio
import shlex
from datetime import timedelta

import pytest

from surestep import Tools
from tests.saying import seen
from worker import build_worker

from . import tools
from .conftest import forgotten, parked

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_decision_is_taken_once_and_answered_too_late_ever_after(terminal, surestep):
    await surestep.start("decide/once", tools.letter(to="ada", fate="lost"))
    await parked(surestep, "decide/once")
    version = str((await seen(surestep, "decide/once")).version)
    unseen = await terminal("decide", "decide/once", "confirm", "--note", "it is in the log")
    assert unseen.code == 2
    assert "confirm names the version that it answers, by --version" in unseen.said
    line = f'decide/once/letter confirm --version {version} \\ --note "it is in the log"'
    assert unseen.said.endswith(line), "with what was typed, and nothing to put in"

    stale = await terminal(
        *("decide", "decide/once", "confirm", "--version", "1", "--note", "it is in the log")
    )
    assert stale.code == 7
    assert stale.said.endswith(line), "ready, with the new version"
    assert "look at it again" in stale.shown
    assert "as it stands now: action decide/once/letter state unknown" in stale.shown
    assert stale.width <= 80

    say = ("decide", "decide/once/letter", "confirm", "--version", version)
    taken = await terminal(*say, "--note", "it is in the log", "--id", "L-77")
    assert taken.code == 0
    assert "confirmed on your word state confirmed" in taken.shown

    outcome = await surestep.recall("decide/once")
    assert outcome.actions[0].receipt.id == "L-77"
    assert any("ada" in line.text and "it is in the log" in line.text for line in outcome.evidence)

    late = await terminal("decide", "decide/once/letter", "abandon", "--note", "no")
    assert late.code == 7
    assert "too late: the step is already settled as confirmed since 20" in late.shown
    assert "UTC (confirmed by the word of ada)" in late.shown


async def test_what_cannot_be_decided_is_said_before_anything_is_sent(terminal, surestep):
    lost = tools.letter(to="ada", fate="lost")
    await surestep.start("decide/two", lost.named("first"), lost.named("second"))
    nobody, several, other = await asyncio.gather(
        terminal("decide", "decide/nobody", "confirm", "--note", "seen"),
        terminal("decide", "decide/two", "confirm", "--note", "seen"),
        terminal("decide", "decide/two/third", "confirm", "--note", "seen"),
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
        version = str((await seen(step, "decide/later")).version)

    say = ("decide", "decide/later", "confirm", "--note", "seen")
    unseen = await alone(*say)
    assert unseen.code == 2
    assert "only a worker knows that: no worker answers" in unseen.said
    left = await alone(*say, "--version", version)
    assert left.code == 6
    assert "as a signal" in left.out
    assert "`python worker.py`" in left.said

    async with build_worker(server.client, Tools(tools.letter), task_queue=queue):
        outcome = await step.recall("decide/later", within=timedelta(seconds=15))
    assert outcome.state == "confirmed"
    assert tools.posted.count("decide/later/letter") == 1


async def test_to_look_on_and_to_leave_it_are_said_in_words_too(terminal, surestep):
    await surestep.start("decide/left", tools.letter(to="ada", fate="lost"))
    await parked(surestep, "decide/left")
    looking = await terminal("decide", "decide/left", "keep_looking", "--until", "3d")
    assert looking.code == 0
    assert "asked again at" in looking.shown
    version = str((await seen(surestep, "decide/left")).version)
    say = ("decide", "decide/left", "leave_unknown", "--version", version)
    left = await terminal(*say, "--note", "the log is gone")
    assert left.code == 0
    assert "unknown" in left.shown
    again = await terminal(
        "start", "decide/left", "letter", "--args", '{"to": "ada", "fate": "lost"}', "--json"
    )
    assert again.code == 15
    assert again.json["advice"] == "stop"
    assert "will not be known" in again.json["for_model"]
    assert tools.posted.count("decide/left/letter") == 1


async def test_an_approval_from_the_command_line_names_what_it_approves(terminal, surestep):
    for name in ("paid", "refused"):
        await surestep.start(f"decide/{name}", tools.payment(to="ada", cents=4200))
        await parked(surestep, f"decide/{name}")
    blind, refused = await asyncio.gather(
        terminal("decide", "decide/paid", "approve"),
        terminal("decide", "decide/refused", "refuse", "--note", "not this one"),
    )
    assert blind.code == 2
    assert blind.width <= 80
    assert 'arguments {"cents": 4200, "to": "ada"}' in blind.shown
    assert "approve names the version that it answers" in blind.said
    *_, first, second = blind.err.splitlines()
    assert tools.posted.count("decide/paid/payment") == 0

    printed = shlex.split(first.rstrip(" \\") + second)
    assert printed[:2] == ["python", "starter.py"]
    as_it_is = await terminal(*printed[2:])
    assert as_it_is.code == 2
    assert "'HOW YOU KNOW' stands for something" in as_it_is.said
    approved = await terminal(*printed[2:-1], "the customer has signed")
    assert approved.code == 0
    assert (await surestep.recall("decide/paid")).state == "confirmed"
    assert tools.posted.count("decide/paid/payment") == 1

    assert refused.code == 0
    assert (await surestep.recall("decide/refused")).state == "not_found"
    assert tools.posted.count("decide/refused/payment") == 0


async def test_without_a_worker_nothing_is_approved_blindly(elsewhere, surestep):
    alone = type(surestep)(surestep.client, task_queue="nobody")
    await alone.start("decide/blind", tools.payment(to="ada"))
    ended = await elsewhere("decide", "decide/blind", "approve")
    assert (ended.code, ended.out) == (2, "")
    assert "only a worker knows that: no worker answers" in ended.said
    await forgotten(surestep, "decide/blind")


async def test_undo_is_a_decision_while_the_step_is_open_and_a_command_afterwards(
    terminal, surestep
):
    lost = tools.letter(to="ada", fate="lost")
    await surestep.start("decide/undo", tools.booking(to="ada"), lost, mode="parallel")
    await parked(surestep, "decide/undo")
    undone = await terminal("decide", "decide/undo/booking", "undo")
    assert undone.code == 0

    await surestep.run("decide/undo-late", tools.booking(to="ada"))
    late = await terminal("decide", "decide/undo-late", "undo")
    assert late.code == 7
    assert "too late" in late.shown
    assert "python starter.py undo decide/undo-late" in late.said


async def test_a_decision_is_made_once_under_its_id(terminal, surestep):
    await surestep.start("decide/id", tools.ferry(to="ada"))
    await parked(surestep, "decide/id")
    retry = ("decide", "decide/id", "retry")
    retry += ("--version", str((await seen(surestep, "decide/id")).version))
    retry += ("--note", "the pier is empty")
    say = (*retry, "--decision-id", "d-1")
    first = await terminal(*say)
    assert "state unknown until it is carried out" in first.shown
    again, other = await asyncio.gather(terminal(*say), terminal(*retry))
    assert first.code == 0
    assert (again.code, other.code) == (7, 7)
    assert "decision d-1 was taken before" in again.shown
    assert "already decided" in other.shown
