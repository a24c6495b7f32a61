import asyncio
import signal

import pytest

from surestep import Tools
from tests.saying import say
from worker import build_worker

from . import tools
from .conftest import forgotten, parked

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_what_waits_is_found_by_tool_and_state(terminal, surestep):
    await surestep.start("waiting/letter", tools.letter(to="ada", fate="lost"))
    await surestep.start("waiting/payment", tools.payment(to="eve"))
    await parked(surestep, "waiting/letter")
    await parked(surestep, "waiting/payment")
    approvals, lost, none, typo = await asyncio.gather(
        terminal("unresolved", "--tool", "payment", "--state", "planned"),
        terminal("unresolved", "--tool", "letter", "--json"),
        terminal("unresolved", "--tool", "telegram"),
        terminal("unresolved", "--state", "unknwon"),
    )
    assert approvals.code == lost.code == none.code == 0
    assert approvals.width <= 80
    assert "waiting/letter" not in approvals.out
    for part in (
        "about eve",
        "why payment of eve must be approved before it is sent",
        "next if nobody approves it until",
        "To see the facts of one and decide it: python starter.py decide ",
    ):
        assert part in approvals.shown
    assert "waiting/letter" in {one["step_id"] for one in lost.json}
    assert all("letter" in one["tools"] for one in lost.json)
    assert none.out == ""
    assert "nothing of this kind waits for a person; of other kinds" in none.said
    assert typo.code == 2


async def test_what_is_decided_and_not_done_yet_is_called_decided(terminal, surestep):
    await surestep.start("waiting/ferry", tools.ferry(to="ada"))
    await parked(surestep, "waiting/ferry")
    assert (await say(surestep, "waiting/ferry", "retry", by="bob")).taken
    table, document, shown = await asyncio.gather(
        terminal("unresolved", "--tool", "ferry"),
        terminal("unresolved", "--tool", "ferry", "--json"),
        terminal("show", "waiting/ferry/ferry"),
    )
    (one,) = [one for one in document.json if one["step_id"] == "waiting/ferry"]
    assert one["decided"].startswith("bob decided to retry at 20")
    assert one["decided"].endswith("it is not carried out yet")
    assert one["state"] == "unknown"
    for said in (table, shown):
        assert "decided bob decided to retry at" in said.shown
        assert "state confirmed" not in said.shown
        assert said.width <= 80
    assert tools.posted.count("waiting/ferry/ferry") == 1


async def test_of_several_actions_each_says_what_comes_next(terminal, surestep):
    lost = tools.letter(to="ada", fate="lost")
    await surestep.start("waiting/two", lost.named("a"), lost.named("b"), mode="parallel")
    await parked(surestep, "waiting/two")
    table = await terminal("unresolved", "--tool", "letter")
    ours = table.out[table.out.index("\nwaiting/two\n") :]
    assert "next        a: no look" in ours
    assert "next        b: no look" in ours


async def test_steps_without_a_worker_are_listed_and_hide_nothing_of_the_others(
    terminal, server, surestep
):
    deserted = type(surestep)(server.client, task_queue="deserted")
    async with build_worker(server.client, Tools(tools.letter), task_queue="deserted"):
        await deserted.start("waiting/unheard", tools.letter(to="ada", fate="lost"))
        await parked(deserted, "waiting/unheard")
    await surestep.start("waiting/heard", tools.letter(to="ada", fate="lost"))
    await parked(surestep, "waiting/heard")
    table, document = await asyncio.gather(terminal("unresolved"), terminal("unresolved", "--json"))
    assert table.code == document.code == 0
    assert "no worker answers on the task queue 'deserted'" in table.said
    why = {one["step_id"]: one["why"] for one in document.json}
    assert why["waiting/unheard"] is None
    assert why["waiting/heard"] == "the request may have left, and this tool has no lookup"
    await forgotten(surestep, "waiting/unheard")


async def test_a_watch_prints_again_when_something_changes_until_it_is_interrupted(
    terminal, surestep
):
    watching = await terminal.begin("unresolved", "--tool", "payment", "--watch")
    await watching.prints("UTC\n")
    await surestep.start("waiting/watched", tools.payment(to="ada"))
    await watching.prints("\nwaiting/watched\n")
    await surestep.decide("waiting/watched", "refuse")
    await surestep.recall("waiting/watched")
    await watching.prints("UTC\n")
    watching.process.send_signal(signal.SIGINT)
    ended = await watching.end()
    assert ended.code == 130
    assert "no longer watched" in ended.said
