"""The rules of the house that no linter knows."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
LONGEST_MODULE = 300
EMPTY_NAMES = {"common", "helpers", "misc", "shared", "utils"}

WORDS = (
    "step", "step id", "action", "actionId", "tool", "contract", "attempt", "evidence", "receipt",
    "verification", "decision", "record",
)  # fmt: skip
STATES = (
    "planned", "sent", "accepted", "confirmed", "rejected", "not_found", "unknown", "compensated",
)  # fmt: skip

# Written so that no pattern finds itself in this file.
FOREIGN_HOSTS = re.compile(
    r"pypi\.(org|python)|python[h]osted|npmjs\.(org|com)|deb\.[d]ebian|index[-]url|find[-]links"
)
HOME_PATHS = re.compile(r"(?<![\w.~-])/(home|Users|[r]oot|workspace)/\w|[A-Z]:\\\\?Users\\")


def committed_files() -> list[Path]:
    """What is in the repository or would be with the next commit."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive, or no git
        return [path for path in ROOT.rglob("*") if path.is_file() and not hidden(path)]
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def hidden(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return any(part in ("__pycache__", "build", "dist") or part[0] == "." for part in parts)


def texts() -> Iterator[tuple[str, str]]:
    for path in committed_files():
        try:
            yield str(path.relative_to(ROOT)), path.read_text()
        except UnicodeDecodeError:  # a picture names no host
            continue


def modules() -> list[Path]:
    return [path for path in committed_files() if path.suffix == ".py"]


def locked() -> dict[str, str]:
    pins = (line.split(";")[0].strip().split("==") for line in LOCK.read_text().splitlines())
    return dict(pins)


def this_checkouts_places() -> set[Path]:
    """Where this checkout lies and who owns it, unless the place is one that everybody has."""
    ordinary = ["/", "/app", "/home", "/mnt", "/opt", "/srv", "/src", "/tmp", "/var/tmp"]
    return {ROOT, ROOT.parent, Path.home()} - {Path(place) for place in ordinary}


def test_no_module_is_longer_than_a_sitting() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in modules()
    }
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_MODULE} == {}


def test_a_module_is_named_after_what_it_holds() -> None:
    named = [path.relative_to(ROOT).with_suffix("") for path in modules()]
    assert [name for name in named if EMPTY_NAMES & set(name.parts)] == []


def test_the_starter_knows_neither_workflows_nor_activities() -> None:
    tree = ast.parse((ROOT / "starter.py").read_text())
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported & {"activities", "worker", "workflows"} == set()


def test_the_lock_holds_plain_pins_only() -> None:
    pin = re.compile(r"[a-z0-9-]+==[0-9][\w.+!]*( ; python(_full)?_version [^;]+)?")
    assert [line for line in LOCK.read_text().splitlines() if not pin.fullmatch(line)] == []


def test_the_lock_satisfies_every_requirement() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    pins = locked()
    unmet = [
        requirement
        for requirement in map(Requirement, wanted)
        if not requirement.specifier.contains(pins.get(canonicalize_name(requirement.name), "0"))
    ]
    assert unmet == [], "run `make lock`"


def test_no_file_names_a_package_index() -> None:
    assert [name for name, text in texts() if FOREIGN_HOSTS.search(text)] == []


def test_no_file_names_a_place_on_this_machine() -> None:
    places = [rf"(?<![\w.~-]){re.escape(str(p))}(?![\w.-])" for p in this_checkouts_places()]
    assert [name for name, text in texts() for place in places if re.search(place, text)] == []


def test_no_file_names_a_home_directory() -> None:
    assert [name for name, text in texts() if HOME_PATHS.search(text)] == []


def test_the_glossary_explains_every_word_and_every_state() -> None:
    rows = re.findall(r"^\| ([^|]+?) +\|", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)
    explained = {row.strip("`* ") for row in rows}
    assert set(WORDS) | set(STATES) <= explained
