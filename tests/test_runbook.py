"""docs/runbook.md has every word that an operator can see, as the code says it."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from surestep.cli.exits import Exit
from surestep.doctor.checkup import CHECKS
from surestep.evidence import State
from surestep.facts import AnomalyKind

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/runbook.md").read_text()
ALERTS = ROOT / "docs/observability/alerts.yml"
PARTS = ("surestep", "workflows", "activities", "worker.py")
NOT_IN_PRODUCTION = ("surestep/testing/", "surestep/demo/")

LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}
GAP = "…"
BEGINNING = 60  # characters by which a long line is known


@cache
def trees() -> dict[str, ast.Module]:
    places = [ROOT / part for part in PARTS]
    files = [*(one for place in places for one in place.rglob("*.py")), ROOT / "worker.py"]
    named = {one.relative_to(ROOT).as_posix(): one for one in files}
    return {
        name: ast.parse(file.read_text())
        for name, file in named.items()
        if not name.startswith(NOT_IN_PRODUCTION)
    }


def log_lines() -> Iterator[str]:
    """What every call of a logger says, gaps in place of what varies."""
    for module, tree in trees().items():
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(value=logger, attr=attr), args=[said, *rest]):
                    if "log" not in ast.unparse(logger).lower():
                        continue
                    if attr in LEVELS:
                        yield template(said) or module
                    elif attr == "log":
                        yield template(rest[0]) or module
                case _:
                    pass


def template(said: ast.expr) -> str:
    """Empty where the line has no words of its own: then the page names the module."""
    match said:
        case ast.Constant(value=str(text)):
            shown = re.sub(r"%[-.\d]*[a-z]", GAP, text)
            begins = re.split(r"[`\n]", shown)[0][:BEGINNING]
            return begins if re.search(r"[a-z]{2}", begins) else ""
    return ""


def errors() -> set[str]:
    """Every class of ours that descends from SurestepError."""
    parents = {
        node.name: {ast.unparse(base).rpartition(".")[2] for base in node.bases}
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {"SurestepError"}
    while more := {name for name, bases in parents.items() if bases & found} - found:
        found |= more
    return found - {"SurestepError"}


def failure_types() -> set[str]:
    """The types that an activity or a workflow of ours gives to its failures, as text."""
    return {
        keyword.value.value
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("ApplicationError")
        for keyword in node.keywords
        if keyword.arg == "type" and isinstance(keyword.value, ast.Constant)
    }


def test_every_log_line_is_explained() -> None:
    lines = set(log_lines())
    assert len(lines) > 20
    assert {line for line in lines if f"`{line}" not in PAGE} == set()


def test_every_error_is_explained() -> None:
    assert {name for name in errors() | failure_types() if f"`{name}`" not in PAGE} == set()


def test_every_kind_of_evidence_is_explained() -> None:
    kinds = set(
        re.findall(r'kind: Literal\["(\w+)"\]', (ROOT / "surestep/evidence.py").read_text())
    )
    assert len(kinds) > 10
    assert {kind for kind in kinds if f"| `{kind}` |" not in PAGE} == set()


@pytest.mark.parametrize("kind", [State, AnomalyKind])
def test_every_state_and_anomaly_is_explained(kind: type[State | AnomalyKind]) -> None:
    assert {one.value for one in kind if f"| `{one}` |" not in PAGE} == set()


def test_every_exit_code_is_explained() -> None:
    assert {one.value for one in Exit if f"| {one.value} |" not in PAGE} == set()


def test_every_alert_has_a_heading_to_which_it_leads() -> None:
    groups = YAML(typ="safe").load(ALERTS)["groups"]
    alerts = {rule["alert"]: rule for group in groups for rule in group["rules"]}
    assert set(re.findall(r"^### (Surestep\w+)$", PAGE, re.MULTILINE)) == set(alerts)
    for name, rule in alerts.items():
        assert rule["annotations"]["runbook_url"].endswith(f"docs/runbook.md#{name.lower()}")


def test_every_check_of_the_doctor_is_explained() -> None:
    assert {check for check in checks() if f"| `{check}` |" not in PAGE} == set()


def checks() -> set[str]:
    """The doctor's own list, and what is looked at before there is a server to ask."""
    constants = {
        node.value.value
        for module, tree in trees().items()
        for node in tree.body
        if module.startswith("surestep/doctor/")
        and isinstance(node, ast.Assign)
        and ast.unparse(node.targets[0]) == "CHECK"
        and isinstance(node.value, ast.Constant)
    }
    return constants | {check.name for check in CHECKS}


def test_the_page_on_operations_leads_to_the_tables() -> None:
    operations = (ROOT / "docs/operations.md").read_text()
    headings = {anchor(line) for line in re.findall(r"^##+ (.+)$", PAGE, re.MULTILINE)}
    wanted = set(re.findall(r"runbook\.md#([\w-]+)", operations))
    assert wanted
    assert wanted <= headings


def anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
