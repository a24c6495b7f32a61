"""What is refused before any server is asked."""

from io import StringIO

import pytest
import typer
from typer.testing import CliRunner, Result

import starter
from surestep.cli.start import read_arguments


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("SURESTEP_TOOLS", "tests.cli.tools:tools")
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")


def typed(*words: str) -> Result:
    return CliRunner().invoke(starter.app, list(words))


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (["begin"], "No such command 'begin'"),
        (["start", "a/b", "telegram"], "no tool is named 'telegram'; registered: letter, parcel"),
        (["start", "a/b", "tests.cli.tools:telegram"], "has no 'telegram'"),
        (["start", "a/b", "tests.cli.tools:tools"], "holds several tools (letter, parcel)"),
        (["start", "a/b", "tests.cli.nowhere:tools"], "no module 'tests.cli.nowhere'"),
        (["start", "a/b", "letter", "--args", '{"fate": "lost"}'], "to: Field required"),
        (["start", "a/b", "letter", "--args", "[1]"], "a JSON list, not an object"),
        (["start", "a/b", "letter", "--within", "-1"], "--within"),
        (["list", "--run", 'say "hi"'], "a double quote"),
        (["list", "--state", "lost"], "lost"),
        (["decide", "a/b", "perhaps"], "'VERDICT': 'perhaps' is not one of"),
        (["decide", "a/b", "retry", "--version", "four"], "it is no whole number: give digits"),
        (["undo", "a/b", "--wait", "long"], "it is no number: give digits"),
        (["decide", "a/b", "retry", "--id", "L-1"], "--id belongs to confirm"),
        (["decide", "a/b", "confirm", "--note", "x" * 1001], "note: String should have at most"),
        (["decide", "a/b"], "name a verdict, one of confirm, retry, abandon"),
        (["decide"], "or run it in a terminal to be asked"),
        (["decide", "a/b", "keep_looking"], "keep_looking needs --until, such as --until 24h"),
        (["decide", "a/b", "keep_looking", "--until", "soon"], "'soon' is no time"),
        (["decide", "a/b", "confirm", "--until", "3d"], "`until` belongs to keep_looking"),
        (["undo", "a/b", "--wait", "-1"], "--wait"),
        (["unresolved", "--watch", "--json"], "choose one"),
        (["unresolved", "--state", "unknwon"], "unknwon"),
        (["setup", "--create-namespace"], "--retention-days"),
    ],
)
def test_what_is_wrong_with_a_command_is_named_and_nothing_is_sent(command, complaint):
    ended = typed(*command)
    assert ended.exit_code == 2
    assert complaint in " ".join(ended.stderr.split())
    assert ended.stdout == ""


@pytest.mark.parametrize("verdict", ["confirm", "retry", "abandon", "leave_unknown"])
def test_what_settles_an_action_is_never_said_without_a_reason(verdict):
    ended = typed("decide", "a/b", verdict, "--version", "4", "--by", "Ada L", "--note", " ")
    assert ended.exit_code == 2
    line = f"decide a/b {verdict} --version 4 --by 'Ada L' --note \"HOW YOU KNOW\""
    assert " ".join(ended.stderr.replace("\\", " ").split()).endswith(line)


def test_a_wrong_setting_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setenv("SURESTEP_TOLLS", "x:y")
    ended = typed("list")
    assert ended.exit_code == 2
    assert "Did you mean SURESTEP_TOOLS?" in " ".join(ended.stderr.split())


def test_arguments_come_from_the_line_a_file_or_stdin(tmp_path, monkeypatch):
    (tmp_path / "args.json").write_text('{"to": "file"}')
    monkeypatch.setattr("sys.stdin", StringIO('{"to": "stdin"}'))
    assert read_arguments('{"to": "line"}') == {"to": "line"}
    assert read_arguments(f"@{tmp_path}/args.json") == {"to": "file"}
    assert read_arguments("-") == {"to": "stdin"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("{to: ada}", "--args is not JSON"), ("@nowhere.json", "nowhere.json: No such file")],
)
def test_arguments_that_cannot_be_read_are_named(text, complaint):
    with pytest.raises(typer.BadParameter, match=complaint):
        read_arguments(text)
