import sys
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import starter
from surestep.cli.exits import MEANINGS, Exit
from surestep.cli.failure import explain

from .conftest import Terminal

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_every_exit_code_is_in_the_help_and_has_a_meaning():
    shown = CliRunner().invoke(starter.app, ["--help"], terminal_width=80)
    assert shown.exit_code == 0
    for code in Exit:
        assert f"{code:>3}  {MEANINGS[code][:40]}" in shown.output
    assert max(map(len, shown.output.splitlines())) <= 80


@pytest.mark.parametrize("command", [one.name for one in starter.app.registered_commands])
async def test_the_help_of_every_command_fits_and_ends_with_its_exit_codes(command):
    shown = CliRunner().invoke(starter.app, [command, "--help"], terminal_width=80)
    assert shown.exit_code == 0
    assert max(map(len, shown.output.splitlines())) <= 80
    assert "Exit codes:\n      0  done" in shown.output


async def test_a_server_that_does_not_answer_is_named(tmp_path):
    nowhere = Terminal(tmp_path, TEMPORAL_ADDRESS="127.0.0.1:1")
    ended = await nowhere("list")
    assert (ended.code, ended.out) == (3, "")
    assert "127.0.0.1:1 cannot be reached" in ended.said


async def test_without_a_configured_server_the_embedded_one_is_used_and_named(tmp_path):
    home = tmp_path / "embedded"
    ended = await Terminal(tmp_path, SURESTEP_HOME=str(home))("list", "--json")
    assert (ended.code, ended.json) == (0, [])
    assert "embedded server: Web UI http://127.0.0.1:" in ended.said
    assert str(home) in ended.said


async def test_only_what_is_expected_is_explained():
    assert explain(ZeroDivisionError("of our own")) is None


async def test_a_fault_shows_its_traceback_and_ends_with_one(monkeypatch, capsys):
    def faulty() -> None:
        raise ZeroDivisionError("of our own")

    monkeypatch.setattr(starter, "app", faulty)
    assert starter.main() == Exit.FAULT
    assert "ZeroDivisionError: of our own" in capsys.readouterr().err


async def test_the_demo_is_played_as_it_was_asked_for(monkeypatch):
    played = []
    stage = SimpleNamespace(main=lambda **how: played.append(how) or 1)
    monkeypatch.setitem(sys.modules, "surestep.demo", stage)
    ended = CliRunner().invoke(starter.app, ["demo", "--keep"])
    assert ended.exit_code == 1
    assert played == [{"keep": True, "as_json": False}]
