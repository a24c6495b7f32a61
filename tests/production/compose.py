"""docker-compose.yml, read for those who start the same without containers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.prepared import ROOT

IMAGE = "surestep:"
PORT = re.compile(r"(?<!\d)(8000|8081|8888|9464)(?!\d)")
VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")


@dataclass
class Service:
    """One service of ours: what it runs, with what, and how one sees that it is up."""

    name: str
    command: list[str]
    environment: dict[str, str]
    health: list[str] | None
    health_port: str  # in the container
    once: bool


class Compose:
    """The file, with other places in it than a network of containers has.

    given    values for its variables, as an environment file would hold them
    hosts    where the hosts are that it names: `temporal:7233` → `127.0.0.1:40001`
    folder   for volumes and secrets
    profile  which of its profiles is started
    """

    def __init__(
        self, given: dict[str, str], hosts: dict[str, str], folder: Path, profile: str
    ) -> None:
        self._file: dict[str, Any] = YAML(typ="safe").load(ROOT / "docker-compose.yml")
        self._given = given
        self._hosts = hosts
        self._folder = folder
        self._profile = profile

    def secret(self, name: str) -> Path:
        """Where a secret is kept; tests write it there."""
        return self._folder / "secrets" / Path(self._file["secrets"][name]["file"]).name

    @property
    def server_settings(self) -> dict[str, Any]:
        """The server's dynamic configuration."""
        found = YAML(typ="safe").load(self._file["configs"]["dynamic"]["content"])
        return {name: values[0]["value"] for name, values in found.items()}

    def in_order(self) -> Iterator[str]:
        """The services of the profile, each after all those that it waits for."""
        services = self._file["services"]
        chosen = {
            name: service.get("depends_on", {}).keys()
            for name, service in services.items()
            if self._profile in service.get("profiles", [self._profile])
        }
        return TopologicalSorter(chosen).static_order()

    def ours(self, name: str) -> bool:
        return bool(self._file["services"][name]["image"].startswith(IMAGE))

    def service(self, name: str, ports: dict[str, int]) -> Service:
        """`ports` says which free port stands for a port of the container."""
        found = self._file["services"][name]

        def here(text: str) -> str:
            text = VARIABLE.sub(lambda match: self._given.get(match[1], match[2]), text)
            for there, place in self._hosts.items():
                text = text.replace(there, place)
            for secret in found.get("secrets", []):
                text = text.replace(f"/run/secrets/{secret}", str(self.secret(secret)))
            for volume in found.get("volumes", []):
                source, target, *_ = volume.split(":")
                if not source.startswith("."):
                    text = text.replace(target, str(self._folder / source))
            text = text.replace("0.0.0.0", "127.0.0.1")
            return PORT.sub(lambda match: str(ports[match[1]]), text)

        python, *command = found["command"]
        assert python == "python"
        environment = {key: here(text) for key, text in found.get("environment", {}).items()}
        health = found.get("healthcheck", {}).get("test", [])[2:]  # without CMD and python
        return Service(
            name,
            [here(word) for word in command],
            environment,
            [here(word) for word in health] or None,
            next(iter(PORT.findall(" ".join(health))), ""),
            once=found["restart"].startswith("on-failure"),
        )
