"""docs/kubernetes: what the schema of the API does not know, which `make containers` checks."""

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from surestep.settings import Settings

FOLDER = Path(__file__).parents[1] / "docs" / "kubernetes"
MANIFESTS: list[dict[str, Any]] = [
    manifest
    for file in sorted(FOLDER.glob("*.yaml"))
    for manifest in YAML(typ="safe").load_all(file)
]
PODS = {
    manifest["metadata"]["name"]: manifest["spec"]["template"]["spec"]
    for manifest in MANIFESTS
    if "template" in manifest.get("spec", {})
}
CONTAINERS = {name: pod["containers"][0] for name, pod in PODS.items()}
WORKER = CONTAINERS["surestep-worker"]


def of_kind(kind: str) -> dict[str, Any]:
    (found,) = [manifest for manifest in MANIFESTS if manifest["kind"] == kind]
    return found


def environment(name: str) -> dict[str, str]:
    given = {one["name"]: one["value"] for one in CONTAINERS[name]["env"]}
    return given | (of_kind("ConfigMap")["data"] if "envFrom" in CONTAINERS[name] else {})


def test_a_stopping_worker_is_not_killed_before_its_grace_is_over() -> None:
    grace = float(environment("surestep-worker")["SURESTEP_GRACE"])
    assert PODS["surestep-worker"]["terminationGracePeriodSeconds"] > grace
    assert "lifecycle" not in WORKER, "before SIGTERM it would only take more work"


def test_two_workers_are_replaced_one_at_a_time_and_spread() -> None:
    (deployment,) = [
        one
        for one in MANIFESTS
        if one["kind"] == "Deployment" and one["metadata"]["name"] == "surestep-worker"
    ]
    assert deployment["spec"]["replicas"] == 2
    assert deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    labels = deployment["spec"]["selector"]["matchLabels"]
    assert deployment["spec"]["template"]["metadata"]["labels"] == labels
    assert of_kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels
    for spread in PODS["surestep-worker"]["topologySpreadConstraints"]:
        assert spread["labelSelector"]["matchLabels"] == labels


def test_nothing_restarts_a_worker_because_the_server_is_away() -> None:
    for probe in ("livenessProbe", "startupProbe"):
        assert WORKER[probe]["httpGet"]["path"] == "/healthz"
    assert WORKER["readinessProbe"]["httpGet"]["path"] == "/readyz"


@pytest.mark.parametrize("name", PODS)
def test_a_container_can_do_no_more_than_it_needs(name: str) -> None:
    pod, container = PODS[name], CONTAINERS[name]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 10001
    assert "USER 10001:10001" in (FOLDER.parents[1] / "Dockerfile").read_text()
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["limits"]["memory"]


@pytest.mark.parametrize("name", [name for name, one in CONTAINERS.items() if "env" in one])
def test_the_variables_are_settings_and_name_files_that_are_mounted(name: str) -> None:
    given = environment(name)
    Settings.from_environment(given)
    mounted = [mount["mountPath"] for mount in CONTAINERS[name]["volumeMounts"]]
    for text in given.values():
        if text.startswith("/"):
            assert str(Path(text).parent) in mounted


def test_the_page_shows_every_manifest() -> None:
    page = (FOLDER.parent / "deploy.md").read_text()
    for file in FOLDER.glob("*.yaml"):
        assert f"kubernetes/{file.name}" in page
