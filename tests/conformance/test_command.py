"""`python starter.py check`: exit codes, the table, the JSON."""

import json
import signal

import pytest
from typer.testing import CliRunner

import starter
from tests.cli.conftest import Terminal
from tests.waiting import eventually

from .conftest import ARGUMENTS

ARGS = ["--args", json.dumps(ARGUMENTS), "--patience", "0.6"]


@pytest.fixture
def terminal(tmp_path, sandbox):
    return Terminal(
        tmp_path, SERVICE_URL=sandbox.url, SURESTEP_TOOLS="tests.conformance.tools:keyed"
    )


async def test_kept_promises_end_with_0_and_the_json_is_complete(terminal, sandbox):
    ended = await terminal("check", "charge", *ARGS, "--sandbox-yes", "--json")
    assert ended.code == 0, ended.err
    report = ended.json
    assert list(report) == ["tool", "run", "ok", "rows", "effects", "undone", "left"]
    assert (report["tool"], report["ok"], report["effects"]) == ("charge", True, 2)
    assert list(report["rows"][0]) == ["promise", "says", "done", "seen", "verdict", "remedy"]
    assert [one["id"] for one in report["left"]] == [one.id for one in await sandbox.effects()]
    assert "makes 2 real effects" in ended.said


async def test_broken_promises_end_with_13_and_the_table_says_what_to_change(terminal):
    ended = await terminal("check", "tests.conformance.tools:ignored", *ARGS, "--sandbox-yes")
    assert ended.code == 13, ended.err
    assert max(map(len, ended.out.splitlines())) <= 80
    assert "BROKEN" in ended.out
    assert "leave key out (None): the service does not honour it" in ended.shown
    assert "not tested nothing commits" in ended.shown or "not tested how late" in ended.shown
    assert ended.out.count("left behind  ef_") == 5


async def test_a_sandbox_that_cannot_be_used_ends_with_14(terminal, sandbox):
    async with sandbox.outage():
        ended = await terminal("check", "charge", *ARGS, "--sandbox-yes", "--json")
    assert (ended.code, ended.out) == (14, "")
    assert "not sent: not connected" in ended.said


async def test_an_interrupted_check_names_what_it_may_have_made_and_speaks_of_no_step(
    terminal, sandbox
):
    await sandbox.fault("surestep-check/*", write=["honest", "hang", "hang"])
    running = await terminal.begin("check", "charge", *ARGS, "--sandbox-yes", "--skip", "key")
    await eventually(lambda: both_hang(sandbox))
    running.process.send_signal(signal.SIGINT)
    ended = await running.end()
    assert (ended.code, ended.out) == (130, "")
    first, second = await sandbox.effects()
    assert f"left behind: {first.id}, key {first.key}" in ended.said
    assert f"left behind: perhaps an effect, key {second.key}" in ended.said
    assert "step" not in ended.err.lower().replace("surestep-check/", "")


async def both_hang(sandbox):
    return [one.fault for one in await sandbox.requests()].count("hang") == 2


@pytest.fixture
def typed(monkeypatch):
    monkeypatch.setenv("SURESTEP_TOOLS", "tests.conformance.tools:keyed")
    monkeypatch.setenv("SERVICE_URL", "http://127.0.0.1:1")

    def run(*words):
        ended = CliRunner().invoke(starter.app, ["check", *words])
        assert ended.stdout == ""
        return ended.exit_code, " ".join(ended.stderr.split())

    return run


def test_without_the_word_for_the_sandbox_it_ends_with_2_and_says_what_it_would_do(typed):
    code, said = typed("charge", *ARGS)
    assert code == 2
    assert "makes 2 real effects, up to 5 if promises are broken, and cannot undo them" in said
    assert "Nothing was sent" in said


def test_the_word_for_the_sandbox_may_come_from_the_environment(typed, monkeypatch):
    monkeypatch.setenv("SANDBOX_YES", "1")
    code, said = typed("charge", *ARGS)
    assert code == 14
    assert "could not be performed" in said


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["telegram", "--sandbox-yes"], "no tool is named 'telegram'"),
        (["tests.conformance.tools:several"], "two tools are named"),
        (["charge", "--args", '{"order": "1"}'], "cents: Field required"),
        (["charge", *ARGS, "--other-args", "[]"], "a JSON list, not an object"),
        (["charge", *ARGS, "--skip", "keys"], "the promises are response_proves"),
    ],
)
def test_what_is_wrong_with_the_command_is_named_and_nothing_is_sent(typed, words, complaint):
    code, said = typed(*words)
    assert code == 2
    assert complaint in said
