"""docker-compose.yml, checked where no engine runs; tests/production starts what it says."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from temporalio.envconfig import ClientConfig

from surestep.settings import Settings

ROOT = Path(__file__).parents[1]
COMPOSE = ROOT / "docker-compose.yml"
FILE: dict[str, Any] = YAML(typ="safe").load(COMPOSE)
SERVICES: dict[str, dict[str, Any]] = FILE["services"]
IMAGE = "surestep:0.1.0"
OURS = [name for name, service in SERVICES.items() if service["image"] == IMAGE]
DATABASES = [name for name, service in SERVICES.items() if service["image"].startswith("postgres:")]
CLIENTS = ("setup", "worker-1", "worker-2")


def dependencies() -> list[tuple[str, str, str]]:
    """(service, the service it waits for, the condition), for the whole file."""
    return [
        (name, other, wait["condition"])
        for name, service in SERVICES.items()
        for other, wait in service.get("depends_on", {}).items()
    ]


def runs_once(name: str) -> bool:
    """It is repeated until it has succeeded, and then not any more."""
    return SERVICES[name]["restart"].startswith("on-failure:")


def without_defaults(text: str) -> str:
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def test_the_file_obeys_the_compose_specification() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    checked = subprocess.run([*command, str(COMPOSE)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_there_is_a_database_a_server_a_web_ui_a_setup_a_codec_server_and_two_workers() -> None:
    needed = {"postgresql", "temporal", "ui", "setup", "codec", "worker-1", "worker-2"}
    assert needed == {name for name, service in SERVICES.items() if "profiles" not in service} - {
        "schema",
        "namespace",
    }


def test_the_two_workers_are_interchangeable() -> None:
    assert SERVICES["worker-1"] == SERVICES["worker-2"]


@pytest.mark.parametrize("name", SERVICES)
def test_an_image_is_pinned_to_one_release(name: str) -> None:
    image = SERVICES[name]["image"]
    assert re.fullmatch(r"[a-z/-]+:v?\d+\.\d+(\.\d+)?", image), f"{image} is not one release"


@pytest.mark.parametrize("name", SERVICES)
def test_what_keeps_running_has_a_health_check_and_comes_back(name: str) -> None:
    if not runs_once(name):
        assert SERVICES[name]["healthcheck"]["test"]
        assert SERVICES[name]["restart"] == "unless-stopped"


@pytest.mark.parametrize(("name", "other", "condition"), dependencies())
def test_a_service_waits_until_the_other_is_ready(name: str, other: str, condition: str) -> None:
    assert other in SERVICES
    assert condition == (
        "service_completed_successfully" if runs_once(other) else "service_healthy"
    ), f"{name} does not wait for {other}"


def test_a_worker_starts_after_the_setup_the_server_and_the_database() -> None:
    before, reached = {"worker-1"}, set[str]()
    while before:
        reached |= before
        before = {other for name, other, _ in dependencies() if name in before} - reached
    assert {"setup", "temporal", "postgresql"} <= reached


@pytest.mark.parametrize("name", OURS)
def test_our_services_run_files_that_the_checkout_has(name: str) -> None:
    python, script, *more = SERVICES[name]["command"]
    assert python == "python"
    assert find_spec(more[0]) if script == "-m" else (ROOT / script).is_file()


@pytest.mark.parametrize("name", CLIENTS)
def test_temporals_own_variables_lead_our_services_to_the_server(name: str) -> None:
    variables = {key: str(value) for key, value in SERVICES[name]["environment"].items()}
    config = ClientConfig.load_client_connect_config(disable_file=True, override_env_vars=variables)
    assert config["target_host"] == "temporal:7233"
    assert config["namespace"] == SERVICES["namespace"]["environment"]["TEMPORAL_NAMESPACE"]


@pytest.mark.parametrize("name", OURS)
def test_our_own_variables_are_settings_with_good_values(name: str) -> None:
    environment = SERVICES[name].get("environment", {})
    Settings.from_environment({key: without_defaults(text) for key, text in environment.items()})


@pytest.mark.parametrize("name", ["worker-1", "setup", "codec"])
def test_encryption_is_on(name: str) -> None:
    assert SERVICES[name]["environment"]["SURESTEP_ENCRYPTION_KEYS"] in files_given(name)


@pytest.mark.parametrize("name", SERVICES)
def test_a_file_that_a_variable_names_is_one_of_the_service_s_secrets(name: str) -> None:
    environment = SERVICES[name].get("environment", {})
    named = {text for text in environment.values() if text.startswith("/run/secrets/")}
    assert named == files_given(name), "and it is given no other"


def files_given(name: str) -> set[str]:
    return {f"/run/secrets/{secret}" for secret in SERVICES[name].get("secrets", [])}


def test_no_secret_is_in_the_repository_or_in_the_image() -> None:
    places = {Path(secret["file"]).parts[0] for secret in FILE["secrets"].values()}
    assert places == {"secrets"}
    assert "secrets/" in (ROOT / ".gitignore").read_text().splitlines()
    assert (ROOT / ".dockerignore").read_text().split("\n")[1] == "*", "only what is named is sent"


@pytest.mark.parametrize("name", ["worker-1", "worker-2"])
def test_a_stopping_worker_is_not_killed_before_its_grace_is_over(name: str) -> None:
    grace = float(SERVICES[name]["environment"]["SURESTEP_GRACE"])
    assert int(SERVICES[name]["stop_grace_period"].removesuffix("s")) > grace


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_can_do_no_more_than_it_needs(name: str) -> None:
    service = SERVICES[name]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["cap_drop"] == ["ALL"]
    assert set(service.get("cap_add", [])) == (
        {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"} if name in DATABASES else set()
    )
    assert service["mem_limit"]
    assert service["logging"]["options"]["max-size"]


@pytest.mark.parametrize("name", [*OURS, *DATABASES, "prometheus"])
def test_its_root_file_system_is_read_only(name: str) -> None:
    assert SERVICES[name]["read_only"] is True


@pytest.mark.parametrize("name", DATABASES)
def test_a_database_is_on_a_network_of_its_own_that_leads_nowhere(name: str) -> None:
    (network,) = SERVICES[name]["networks"]
    assert FILE["networks"][network] == {"internal": True}


@pytest.mark.parametrize("name", SERVICES)
def test_what_is_mounted_from_the_checkout_is_there_and_cannot_be_written_to(name: str) -> None:
    for volume in SERVICES[name].get("volumes", []):
        source, _, *mode = volume.split(":")
        if source.startswith("."):
            assert (ROOT / source).exists()
            assert mode == ["ro"]
        else:
            assert source in FILE["volumes"]


@pytest.mark.parametrize("name", SERVICES)
def test_no_port_is_reachable_from_another_host(name: str) -> None:
    ports = SERVICES[name].get("ports", [])
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert name not in DATABASES or not ports
    if SERVICES[name].get("network_mode") == "host":
        assert SERVICES[name]["environment"]["SURESTEP_CODEC_LISTEN"].startswith("127.0.0.1:")


def test_the_file_works_without_an_environment_file() -> None:
    variables = re.findall(r"(?<!\$)\$\{(\w+)(:-[^}]*)?\}", COMPOSE.read_text())
    assert variables
    assert [name for name, default in variables if not default] == []
