"""Settings: one table, one module, and every program checks them before it begins."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import starter
from surestep.cli.exits import Exit
from surestep.settings import PREFIX, Settings

from .page import PAGE, written

ROOT = Path(__file__).parents[2]

ALLOWED = {
    "surestep/settings.py": "the settings themselves",
    "surestep/connection.py": "what of Temporal's own configuration the SDK does not tell",
    "surestep/cli/doctor.py": "hands the environment to the settings, wrong values too",
    "surestep/embedded.py": "the supervisor's process inherits the environment",
    "surestep/demo/stage.py": "the demo's own processes inherit a clean environment",
    "surestep/demo/tools.py": "where the demo's service is, set by the demo",
    "surestep/conformance/recording.py": "puts a recorder in front of a tool's own variable",
    "surestep/http/service.py": "`env(…)`: a variable that the tool's author names",
    "surestep/telemetry/traces.py": "whether OpenTelemetry's own variables name the service",
    "surestep/mail/server.py": "the mail tool's SMTP_URL",
    "surestep/postgresql/database.py": "the PostgreSQL tools' DATABASE_URL",
}
"""Who reads the environment, and why that is no setting."""


def product() -> list[Path]:
    folders = [ROOT / name for name in ("surestep", "workflows", "activities")]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    return [*files, ROOT / "worker.py", ROOT / "starter.py"]


def reads_the_environment(path: Path) -> bool:
    return any(
        (isinstance(node, ast.Attribute) and node.attr in ("environ", "environb", "getenv"))
        or (isinstance(node, ast.alias) and node.name in ("environ", "getenv"))
        for node in ast.walk(ast.parse(path.read_text()))
    )


def test_the_page_of_settings_has_the_codes_table():
    assert PAGE.read_text() == written(), "run `python -m tests.doctor`"


def test_the_environment_is_read_by_the_settings_and_by_whoever_has_a_reason():
    reading = {str(path.relative_to(ROOT)) for path in product() if reads_the_environment(path)}
    assert reading - ALLOWED.keys() == set(), "let surestep.settings read it"
    assert ALLOWED.keys() - reading == set(), "it reads the environment no more"


def test_the_readme_shows_a_newcomer_no_setting_that_there_is_not():
    lines = (ROOT / "README.md").read_text().splitlines()
    rows = [line.split("`")[1] for line in lines if line.startswith(f"| `{PREFIX}")]
    assert len(rows) == 5
    assert set(rows) <= {one.variable for one in Settings.table()}


COMMANDS = [
    ("start", "s/1", "charge"), ("list",), ("show", "s/1"), ("unresolved",), ("anomalies",),
    ("decide", "s/1", "abandon", "--note", "n", "--version", "1"),
    ("undo", "s/1"), ("report", "run"), ("setup",), ("demo",),
    ("check", "tests.doctor.tools:charge"), ("keys", "new", "ada", "--file", "/no/such/key.pem"),
    ("codec",), ("encryption-keys", "new", "/no/such/ring.toml"),
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_no_command_begins_with_a_setting_that_is_wrong(command, monkeypatch):
    monkeypatch.setenv("SURESTEP_GRACE", "soon")
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    ended = CliRunner().invoke(starter.app, list(command))
    assert ended.exit_code == Exit.INVALID, ended.output
    assert "SURESTEP_GRACE='soon' cannot be used" in " ".join(ended.stderr.split())


@pytest.mark.parametrize(
    "program",
    [
        ("worker.py",),
        ("-m", "surestep.agents.mcp"),
        ("-m", "surestep.testing", "--folder", "world"),
    ],
    ids=lambda program: program[-1],
)
def test_no_program_begins_with_a_setting_that_is_wrong(program, tmp_path):
    if program[0].endswith(".py"):
        program = (str(ROOT / program[0]),)
    env = {**os.environ, "SURESTEP_GRACE": "soon", "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, *program],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode != 0
    assert "SURESTEP_GRACE='soon' cannot be used" in ended.stderr
    assert "Traceback" not in ended.stderr
