import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from surestep import Tools
from surestep.cli import page
from surestep.cli.said import said
from tests.saying import say
from worker import build_worker

from . import tools
from .conftest import forgotten, parked, until

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_record_reads_as_a_timeline_and_says_how_to_decide(terminal, surestep):
    lost = tools.letter(to="ada", fate="lost")
    await surestep.start("show/parked", lost, run="run-9", label="Ada's letter")
    await parked(surestep, "show/parked")
    shown, document = await asyncio.gather(
        terminal("show", "show/parked"), terminal("show", "show/parked", "--json")
    )
    assert (shown.code, shown.err) == (0, "")
    assert max(map(len, shown.out.splitlines())) <= 80
    text = shown.shown
    for part in (
        "state unknown",
        "run run-9",
        "label Ada's letter",
        "Web UI http://ui.example/namespaces/default/workflows/show%2Fparked",
        "action show/parked/letter",
        "proven nothing, except that a request may have left",
        "decisions confirm, retry, abandon",
        "planned; the key is show/parked/letter",
        "attempt 1 dispatched",
        "python starter.py decide show/parked/letter abandon",
    ):
        assert part in text

    (action,) = document.json["actions"]
    assert (document.json["source"], document.json["open"]) == ("worker", True)
    assert {"version", "proven", "forbidden", "next_look", "timeline"} <= action.keys()
    assert [one["verdict"] for one in action["decisions"]] == [
        "confirm", "retry", "abandon", "keep_looking", "leave_unknown",
    ]  # fmt: skip
    assert action["arguments"] == {"to": "ada", "fate": "lost"}
    assert action["input_hash"].startswith("v1:")
    assert (action["decided"], action["overdue"], action["told"]) == (None, None, [])
    assert action["timeline"][0].keys() == {"at", "text", "count", "until"}


async def test_without_a_worker_it_shows_what_the_server_knows(elsewhere, server, surestep):
    queue = "show-alone"
    alone = elsewhere.where(SURESTEP_TASK_QUEUE=queue)
    step = type(surestep)(server.client, task_queue=queue)
    async with build_worker(server.client, Tools(tools.letter), task_queue=queue):
        await step.run("show/closed", tools.letter(to="ada"))
        await step.start("show/open", tools.letter(to="ada", fate="lost"))
        await parked(step, "show/open")
    closed, still_open, nobody = await asyncio.gather(
        alone("show", "show/closed"), alone("show", "show/open", "--json"), alone("show", "show/no")
    )
    assert closed.code == 0
    assert "receipt     L-ada, posted" in closed.out
    assert "planned; the key is show/closed/letter" in closed.out

    assert still_open.code == 0
    assert (still_open.json["source"], still_open.json["state"]) == ("list", "unknown")
    assert [one["action_id"] for one in still_open.json["actions"]] == ["show/open/letter"]
    assert "`python worker.py`" in still_open.json["note"]

    assert nobody.code == 4
    assert "there is no step 'show/no'" in nobody.said
    await forgotten(surestep, "show/open")


async def test_a_step_whose_input_nobody_can_read_is_shown_all_the_same(terminal, server, surestep):
    await server.client.start_workflow(
        "AgentStep", "no step at all", id="show/unreadable", task_queue=surestep.task_queue
    )
    shown = await terminal("show", "show/unreadable")
    assert shown.code == 0
    assert "nothing was sent" in shown.shown


async def test_a_long_command_is_broken_where_a_shell_goes_on(capsys):
    page.command(f"python starter.py decide {'x' * 25} confirm --version 3 --note 'HOW YOU KNOW'")
    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith(" --version 3 \\")
    assert second.strip() == "--note 'HOW YOU KNOW'"


async def test_the_words_of_a_service_cannot_steer_the_terminal():
    assert page.printable("paid\x1b[2J\x07\u202e") == "paid\ufffd[2J\ufffd\ufffd"


@pytest.mark.parametrize(
    ("passed", "said"),
    [
        (timedelta(seconds=-3), "0s"),
        (timedelta(seconds=59), "59s"),
        (timedelta(minutes=5, seconds=2), "5m 2s"),
        (timedelta(hours=3, minutes=20), "3h 20m"),
        (timedelta(days=4, hours=2), "4d 2h"),
    ],
)
async def test_an_age_has_the_two_units_that_matter(passed, said):
    now = datetime.now(UTC)
    assert page.age(now - passed, now) == said


async def test_a_step_that_was_ended_from_outside_offers_no_decision(terminal, surestep):
    await surestep.start("show/ended", tools.letter(to="ada", fate="lost"))
    await parked(surestep, "show/ended")
    await surestep.client.get_workflow_handle("show/ended").terminate()
    document = (await terminal("show", "show/ended", "--json")).json
    assert (document["state"], document["advice"], document["open"]) == ("unknown", "stop", False)
    assert "ended without an outcome" in document["note"]
    assert document["actions"][0]["decisions"] == []


async def test_an_approval_is_pending_decided_expired_or_superseded_and_reads_so(
    terminal, surestep
):
    async def known(step_id):
        (record,) = await surestep.handle(step_id).records()
        return record

    async def approve(step_id):
        await surestep.decide(step_id, "approve", by="eve", version=(await known(step_id)).version)

    tools.unreachable["show/decided/payment"] = timedelta(minutes=10)
    tools.unreachable["show/superseded/forgetful"] = timedelta(0)
    await surestep.start("show/pending", tools.payment(to="ada"))
    await surestep.start("show/decided", tools.payment(to="ada"))
    await surestep.start("show/superseded", tools.forgetful(to="ada"))
    for name in ("pending", "decided", "superseded"):
        await parked(surestep, f"show/{name}")
    await approve("show/decided")
    await approve("show/superseded")
    await surestep.run("show/expired", tools.expiring(to="ada"))

    async def refused_and_asked_again():
        waits = (await known("show/decided")).not_before
        asked = await known("show/superseded")
        return waits and asked.approval and asked.asked

    await until(refused_and_asked_again)
    names = ("pending", "decided", "expired", "superseded")
    shown = await asyncio.gather(*(terminal("show", f"show/{name}") for name in names))
    pending, decided, expired, superseded = (one.shown for one in shown)
    assert all(one.code == 0 and one.width <= 80 for one in shown)

    assert "planned, payment of ada must be approved before it is sent" in pending
    assert "if nobody approves it until" in pending
    assert 'arguments {"cents": 2500, "to": "ada"}' in pending

    assert "state planned, approved by eve; it is not sent yet" in decided
    assert "decided approved by eve at" in decided

    assert "not_found, nobody approved it until" in expired
    assert "it was not run" in expired
    assert "To decide" not in expired

    assert "was approved by eve at" in superseded
    assert "that is too long ago to begin it now" in superseded
    assert "approve --version" in superseded

    for one in (decided, expired, superseded):
        assert "state confirmed" not in one
    tools.unreachable.clear()


async def test_without_a_worker_it_shows_what_people_have_said_and_calls_nothing_done(
    elsewhere, server, surestep
):
    queue = "show-said"
    alone = elsewhere.where(SURESTEP_TASK_QUEUE=queue)
    step = type(surestep)(server.client, task_queue=queue)
    async with build_worker(server.client, Tools(tools.ferry), task_queue=queue):
        await step.start("show/said", tools.ferry(to="ada"))
        await parked(step, "show/said")
        assert (await say(step, "show/said", "retry", by="bob")).taken
    handle = server.client.get_workflow_handle("show/said")
    await handle.signal("decide", {"verdict": "abandon", "by": "eve\x1b[2J"})
    await handle.signal("decide", "no decision at all")

    async def in_the_history() -> bool:  # not before a task that the worker left behind is over
        return len(await said(step, "show/said")) == 3

    await until(in_the_history)
    shown, document = await asyncio.gather(
        alone("show", "show/said"), alone("show", "show/said", "--json")
    )
    assert shown.code == 0
    assert shown.width <= 80
    assert "state unknown" in shown.shown
    assert "bob said retry; whether it was taken, only a worker knows" in shown.shown
    newest, middle, oldest = document.json["said"]
    assert "cannot be read" in newest
    assert middle.endswith("eve\ufffd[2J said abandon")
    assert oldest.endswith("bob said retry")
    assert (document.json["state"], document.json["source"]) == ("unknown", "list")
    await forgotten(surestep, "show/said")
