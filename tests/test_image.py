"""The Dockerfile, checked where no container engine runs. `make containers` lints it."""

import re
from pathlib import Path

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
LINES = re.sub(r"\\\n\s*", "", DOCKERFILE).splitlines()
LAST_STAGE = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]


def test_every_stage_starts_from_one_python_release() -> None:
    bases = [line.split()[1] for line in LINES if line.startswith("FROM ")]
    assert len(bases) == 2
    assert len(set(bases)) == 1, "what is built with one Python runs on it"
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", bases[0])


def test_it_runs_as_a_fixed_user_that_is_not_root() -> None:
    assert "\nUSER 10001:10001\n" in LAST_STAGE
    assert "--uid 10001" in LAST_STAGE
    assert "chown" not in DOCKERFILE, "it owns nothing in the image"


def test_it_copies_what_the_checkout_has_and_what_is_sent() -> None:
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, flags=re.MULTILINE)
    sources = {source for group in copies for source in group.split()}
    assert {source for source in sources if not (ROOT / source).exists()} == set()
    assert {"surestep", "workflows", "activities", "worker.py", "starter.py"} <= sources
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} == sources


def test_nothing_is_written_while_it_runs() -> None:
    for setting in ("PYTHONDONTWRITEBYTECODE=1", "HOME=/tmp", "PYTHONUNBUFFERED=1"):
        assert setting in LAST_STAGE
    assert "compileall" in DOCKERFILE, "otherwise every start compiles everything"


def test_it_installs_from_the_lock_and_names_no_index() -> None:
    assert "--constraint requirements.lock" in DOCKERFILE
    for word in ("http", "index", "trusted"):
        assert word not in DOCKERFILE.replace("http.client", "")


def test_its_health_is_that_of_the_event_loop_and_not_that_of_the_server() -> None:
    (check,) = re.findall(r"^HEALTHCHECK.+\n.+$", LAST_STAGE, flags=re.MULTILINE)
    port = re.search(r"SURESTEP_HEALTH=127\.0\.0\.1:(\d+)", LAST_STAGE)
    assert port
    assert f"'127.0.0.1', {port[1]}" in check
    assert "/healthz" in check


def test_compose_builds_the_release_of_the_image() -> None:
    version = re.search(r'image\.version="([\d.]+)"', LAST_STAGE)
    compose = YAML(typ="safe").load(ROOT / "docker-compose.yml")
    assert version
    assert compose["services"]["worker-1"]["image"] == f"surestep:{version[1]}"
    assert f'\nversion = "{version[1]}"\n' in (ROOT / "pyproject.toml").read_text()
