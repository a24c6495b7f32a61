import asyncio
import signal
from datetime import datetime

import pytest

from tests.saying import seen

from . import tools
from .conftest import forgotten, parked

pytestmark = pytest.mark.asyncio(loop_scope="session")

LETTER = "tests.cli.tools:letter"
LOST = '{"to": "ada", "fate": "lost"}'


async def test_a_step_is_performed_once_however_often_it_is_started(terminal):
    order = (
        "--args", '{"to": "bob"}', "--name", "invitation", "--run", "run-7", "--label", "Bob's",
    )  # fmt: skip
    first = await terminal("start", "start/once", LETTER, *order)
    assert (first.code, first.err) == (0, "")
    assert "state       confirmed" in first.out
    assert "receipt     L-bob, posted" in first.out
    assert max(map(len, first.out.splitlines())) <= 80

    again = await terminal("start", "start/once", "letter", *order, "--json")
    assert (again.code, again.err) == (0, "")
    assert tools.posted.count("start/once/invitation") == 1
    told = "The action 'invitation' is done (id L-bob). It happened once. Do not call it again."
    assert again.json == {
        "step_id": "start/once",
        "run": "run-7",
        "label": "Bob's",
        "url": "http://ui.example/namespaces/default/workflows/start%2Fonce",
        "state": "confirmed",
        "advice": "done",
        "for_model": told,
        "actions": [
            {
                "action_id": "start/once/invitation",
                "name": "invitation",
                "tool": "letter",
                "state": "confirmed",
                "why": again.json["actions"][0]["why"],
                "for_model": told,
                "receipt": {"id": "L-bob", "status": "posted", "at": None, "result": {"stamps": 2}},
                "anomalies": [],
            }
        ],
    }


async def test_other_arguments_under_the_same_step_id_are_a_conflict(terminal, surestep):
    await surestep.run("start/conflict", tools.letter(to="ada"))
    ended = await terminal("start", "start/conflict", "letter", "--args", '{"to": "eve"}', "--json")
    assert (ended.code, ended.out) == (5, "")
    assert "letter.to" in ended.said
    assert tools.posted.count("start/conflict/letter") == 1


async def test_what_the_service_rejects_has_its_own_exit_code(terminal):
    refused = await terminal(
        "start", "start/no", "letter", "--args", '{"to": "x", "fate": "refused"}'
    )
    assert refused.code == 8
    assert "nobody is called x" in refused.shown
    assert tools.posted.count("start/no/letter") == 0


async def test_a_start_that_waits_says_what_for_and_ends_unsettled_at_its_limit(terminal):
    ended = await terminal(
        "start", "start/limit", LETTER, "--args", LOST, "--within", "2", "--json"
    )
    assert ended.code == 6
    assert ended.json["advice"] == "wait"
    assert ended.json["actions"][0]["state"] == "unknown"
    said = ended.said
    assert "waiting: start/limit/letter is unknown" in said
    assert "python starter.py decide start/limit/letter confirm" in said
    assert "start/limit is still unknown: do not repeat it" in said


async def test_a_start_without_a_worker_says_so_and_goes_on(elsewhere, surestep):
    waiting, not_waiting = await asyncio.gather(
        elsewhere("start", "start/alone", "letter", "--args", LOST, "--within", "1", "--json"),
        elsewhere("start", "start/alone-too", "letter", "--args", LOST, "--no-wait"),
    )
    assert waiting.code == 6
    assert waiting.json["state"] == "unsettled"
    assert waiting.json["actions"][0]["action_id"] == "start/alone/letter"
    assert not_waiting.code == 0
    for ended in (waiting, not_waiting):
        assert "`python worker.py`" in ended.said
    await forgotten(surestep, "start/alone", "start/alone-too")


async def test_a_step_that_is_ended_from_outside_ends_the_waiting_start(terminal, surestep):
    running = await terminal.begin("start", "start/ended", "letter", "--args", LOST)
    await running.says("start/ended/letter is unknown")
    await surestep.client.get_workflow_handle("start/ended").terminate()
    ended = await running.end()
    assert ended.code == 11
    assert "ended without an outcome" in ended.said


async def test_an_abandoned_action_ends_the_waiting_start_without_an_effect(terminal, surestep):
    running = await terminal.begin("start", "start/abandoned", "letter", "--args", LOST)
    await running.says("start/abandoned/letter is unknown")
    version = str((await seen(surestep, "start/abandoned")).version)
    abandon = ("decide", "start/abandoned", "abandon", "--version", version, "--note", "no")
    assert (await terminal(*abandon)).code == 0
    ended = await running.end()
    assert ended.code == 9
    assert "abandoned by ada" in ended.shown


async def test_two_effects_of_one_action_are_an_anomaly(terminal):
    ended = await terminal(
        "start", "start/twice", "parcel", "--args", '{"to": "ada", "fate": "twice"}', "--json"
    )
    assert ended.code == 10
    assert ended.json["advice"] == "stop"
    (anomaly,) = ended.json["actions"][0]["anomalies"]
    assert anomaly.keys() == {"kind", "at", "why"}
    assert anomaly["kind"] == "duplicate"
    assert datetime.fromisoformat(anomaly["at"]).tzinfo


async def test_an_interrupted_start_leaves_the_step_alone(terminal, surestep):
    running = await terminal.begin("start", "start/interrupted", "letter", "--args", LOST)
    await running.says("start/interrupted/letter is unknown")
    running.process.send_signal(signal.SIGINT)
    ended = await running.end()
    assert ended.code == 130
    assert "goes on" in ended.said
    await parked(surestep, "start/interrupted")
