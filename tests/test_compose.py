"""docker-compose.yml and the Dockerfile, checked where no container engine runs."""

import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from temporalio.envconfig import ClientConfig

from surestep.settings import Settings

ROOT = Path(__file__).parents[1]
COMPOSE = ROOT / "docker-compose.yml"
DOCKERFILE = ROOT / "Dockerfile"
SERVICES: dict[str, dict[str, Any]] = YAML(typ="safe").load(COMPOSE)["services"]
OURS = ("setup", "worker")


def dependencies() -> list[tuple[str, str, str]]:
    """(service, the service it waits for, the condition), for the whole file."""
    return [
        (name, other, wait["condition"])
        for name, service in SERVICES.items()
        for other, wait in service.get("depends_on", {}).items()
    ]


def runs_once(name: str) -> bool:
    """Others wait for its end, not for its health."""
    return (name, "service_completed_successfully") in {(b, c) for _, b, c in dependencies()}


def test_the_file_obeys_the_compose_specification() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    checked = subprocess.run([*command, str(COMPOSE)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_there_is_a_database_a_server_a_web_ui_a_setup_and_a_worker() -> None:
    assert {"postgresql", "temporal", "ui", "setup", "worker"} <= SERVICES.keys()


@pytest.mark.parametrize("name", SERVICES)
def test_an_image_is_pinned_to_one_release(name: str) -> None:
    image = SERVICES[name]["image"]
    assert re.fullmatch(r"[a-z/-]+:\d+\.\d+(\.\d+)?", image), f"{image} is not one release"


def test_the_dockerfile_starts_from_one_python_release_and_not_as_root() -> None:
    lines = DOCKERFILE.read_text().splitlines()
    assert [line for line in lines if re.match(r"FROM python:3\.\d+\.\d+-slim", line)]
    user = [line.split()[1] for line in lines if line.startswith("USER ")][-1]
    assert user not in ("root", "0")


def test_the_dockerfile_copies_what_the_checkout_has() -> None:
    copies = re.findall(r"^COPY (.+) \S+$", DOCKERFILE.read_text(), flags=re.MULTILINE)
    sources = {source for group in copies for source in group.split()}
    assert {source for source in sources if not (ROOT / source).exists()} == set()
    assert {"surestep", "workflows", "activities", "worker.py", "starter.py"} <= sources


@pytest.mark.parametrize("name", SERVICES)
def test_what_keeps_running_has_a_health_check_and_comes_back(name: str) -> None:
    if runs_once(name):
        assert SERVICES[name]["restart"].startswith("on-failure:")
    else:
        assert SERVICES[name]["healthcheck"]["test"]
        assert SERVICES[name]["restart"] == "unless-stopped"


@pytest.mark.parametrize(("name", "other", "condition"), dependencies())
def test_a_service_waits_until_the_other_is_ready(name: str, other: str, condition: str) -> None:
    assert other in SERVICES
    assert condition == (
        "service_completed_successfully" if runs_once(other) else "service_healthy"
    ), f"{name} does not wait for {other}"


def test_the_worker_starts_after_the_setup_the_server_and_the_database() -> None:
    before, reached = {"worker"}, set[str]()
    while before:
        reached |= before
        before = {other for name, other, _ in dependencies() if name in before} - reached
    assert {"setup", "temporal", "postgresql"} <= reached


@pytest.mark.parametrize("name", OURS)
def test_our_services_run_files_that_the_checkout_has(name: str) -> None:
    python, script, *_ = SERVICES[name]["command"]
    assert python == "python"
    assert (ROOT / script).is_file()


@pytest.mark.parametrize("name", OURS)
def test_temporals_own_variables_lead_our_services_to_the_server(name: str) -> None:
    variables = {key: str(value) for key, value in SERVICES[name]["environment"].items()}
    config = ClientConfig.load_client_connect_config(disable_file=True, override_env_vars=variables)
    assert config["target_host"] == "temporal:7233"
    assert config["namespace"] == SERVICES["namespace"]["environment"]["TEMPORAL_NAMESPACE"]


@pytest.mark.parametrize("name", OURS)
def test_our_own_variables_are_settings_with_good_values(name: str) -> None:
    environment = SERVICES[name]["environment"]
    ours = {
        key: re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)
        for key, value in environment.items()
        if not key.startswith("TEMPORAL_")
    }
    assert "SURESTEP_TOOLS" in ours
    Settings.from_environment({**ours, "SURESTEP_TOOLS": "acme.tools:tools"})


def test_a_stopping_worker_is_not_killed_before_its_grace_is_over() -> None:
    seconds = int(SERVICES["worker"]["stop_grace_period"].removesuffix("s"))
    assert timedelta(seconds=seconds) > Settings().grace


@pytest.mark.parametrize("name", SERVICES)
def test_no_port_is_reachable_from_another_host(name: str) -> None:
    ports = SERVICES[name].get("ports", [])
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert name != "postgresql" or not ports


def test_the_file_works_without_an_environment_file() -> None:
    variables = re.findall(r"(?<!\$)\$\{(\w+)(:-[^}]*)?\}", COMPOSE.read_text())
    assert variables
    assert [name for name, default in variables if not default] == []
