import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from surestep import Tools
from surestep.cli import page
from worker import build_worker

from . import tools
from .conftest import parked

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
    assert [one["verdict"] for one in action["decisions"]] == ["confirm", "retry", "abandon"]
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
