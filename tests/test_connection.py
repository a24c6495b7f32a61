"""Which Temporal is used, against a real one. No configuration of the machine's user is read."""

import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import BaseModel
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest

from surestep import connection as module
from surestep.connection import connection, workflow_url
from surestep.embedded_folder import Announcement, Ports, ServerFolder
from surestep.embedded_process import free_port
from surestep.errors import CannotConnect
from surestep.settings import Settings
from surestep.visibility import SEARCH_ATTRIBUTES

pytestmark = pytest.mark.asyncio

USER = """
import asyncio, sys
from datetime import timedelta
from pathlib import Path
from surestep.embedded import embedded_server

async def main():
    async with embedded_server(Path(sys.argv[1]), linger=timedelta(0)) as server:
        print(server.address, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


class Refund(BaseModel):
    order: str
    within: timedelta


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerFolder]:
    """A server that another process uses, too, on ports that were free."""
    folder = ServerFolder(tmp_path_factory.mktemp("server"))
    folder.write(Announcement(0, None, Ports(free_port(), free_port()))).close()
    process = subprocess.Popen(
        [sys.executable, "-c", USER, str(folder.path)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert process.stdout is not None
    with process, process.stdout:
        assert process.stdout.readline()
        yield folder
        process.kill()


@pytest.fixture(autouse=True)
def _unconfigured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("TEMPORAL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def address(server: ServerFolder) -> str:
    current = server.current()
    assert current is not None
    return current.ports.address


async def page(url: str) -> bytes:
    """The content, empty for an error."""

    def get() -> bytes:
        try:
            with urllib.request.urlopen(url, timeout=5) as response:
                content: bytes = response.read()
                return content
        except OSError:
            return b""

    return await asyncio.to_thread(get)


async def eventually(condition: Callable[[], Awaitable[object]], within: float = 15) -> None:
    deadline = time.monotonic() + within
    while not await condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        await asyncio.sleep(0.05)


def profile(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "temporal.toml"
    file.write_text(text)
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(file))


async def refusal(tmp_path: Path) -> str:
    home = tmp_path / "home"
    with pytest.raises(CannotConnect) as caught:
        async with connection(Settings(home=home)):
            pass
    assert not home.exists(), "an embedded server was started instead"
    return str(caught.value)


async def test_without_configuration_the_embedded_server_is_used(server: ServerFolder) -> None:
    async with connection(Settings(home=server.path)) as connected:
        assert connected.embedded
        assert connected.address == address(server)
        assert connected.namespace == "default"
        request = ListSearchAttributesRequest(namespace="default")
        listed = await connected.client.operator_service.list_search_attributes(request)
        assert set(SEARCH_ATTRIBUTES) <= set(listed.custom_attributes)


async def test_pydantic_models_are_understood(server: ServerFolder) -> None:
    refund = Refund(order="7781", within=timedelta(hours=1))

    async with connection(Settings(home=server.path)) as connected:
        converter = connected.client.data_converter
        assert await converter.decode(await converter.encode([refund]), [Refund]) == [refund]


async def test_the_link_to_a_step_leads_to_it_although_its_id_has_slashes(
    server: ServerFolder,
) -> None:
    step_id = "refund/order-7781:v2/a+b=c@d"

    async with connection(Settings(home=server.path)) as connected:
        await connected.client.start_workflow("Nobody", id=step_id, task_queue="nowhere")
        assert connected.ui_url is not None
        link = workflow_url(connected.ui_url, connected.namespace, step_id)
        assert link.startswith(f"{connected.ui_url}/namespaces/default/workflows/refund%2F")
        assert await page(link)
        # The page asks the API for the same path. The Web UI's own connection to a server that
        # has just started takes a second.
        api = link.replace("/namespaces/", "/api/v1/namespaces/")
        await eventually(lambda: page(api))
        assert f'"workflowId": "{step_id}"'.encode() in await page(api)


async def test_an_address_in_the_environment_is_used(
    server: ServerFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", address(server))
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "agents")
    settings = Settings(home=tmp_path / "home", ui="https://temporal.example.com")

    async with connection(settings) as connected:
        assert not connected.embedded
        assert connected.address == address(server)
        assert connected.namespace == connected.client.namespace == "agents"
        assert connected.ui_url == "https://temporal.example.com"
    assert not settings.home.exists()


@pytest.mark.parametrize("name", ["default", "staging"])
async def test_a_profile_is_used(
    server: ServerFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    profile(tmp_path, f'[profile.{name}]\naddress = "{address(server)}"\n', monkeypatch)
    if name != "default":
        monkeypatch.setenv("TEMPORAL_PROFILE", name)

    async with connection(Settings(home=tmp_path / "home")) as connected:
        assert not connected.embedded
        assert connected.address == address(server)
        assert connected.ui_url is None


async def test_a_profile_that_nobody_chose_does_not_count(
    server: ServerFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile(tmp_path, '[profile.production]\naddress = "127.0.0.1:1"\n', monkeypatch)

    async with connection(Settings(home=server.path)) as connected:
        assert connected.embedded


async def test_a_refused_connection_is_told_with_address_cause_and_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = f"127.0.0.1:{free_port()}"
    monkeypatch.setenv("TEMPORAL_ADDRESS", nobody)

    message = await refusal(tmp_path)

    assert f"Temporal at {nobody} cannot be reached: Connection refused." in message
    assert "correct TEMPORAL_ADDRESS" in message


async def test_a_server_that_does_not_answer_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CONNECTS_WITHIN", timedelta(seconds=0.3))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("TEMPORAL_ADDRESS", f"127.0.0.1:{silent.getsockname()[1]}")

        assert "no answer within 0.3 s" in await refusal(tmp_path)


async def test_encryption_that_the_server_does_not_speak_is_named(
    server: ServerFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", address(server))
    monkeypatch.setenv("TEMPORAL_API_KEY", "hush-hush")

    message = await refusal(tmp_path)

    assert "TEMPORAL_TLS=false" in message
    assert "hush-hush" not in message


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("TEMPORAL_PROFILE", "nope", "Profile 'nope' not found"),
        ("TEMPORAL_CONFIG_FILE", "/no/such/file", "TEMPORAL_CONFIG_FILE=/no/such/file"),
        ("TEMPORAL_ADDRESS", "not an address", "not an address"),
        ("TEMPORAL_NAMESPACE", "agents", "TEMPORAL_NAMESPACE: this speaks of a cluster"),
        ("TEMPORAL_API_KEY", "hush-hush", "TEMPORAL_API_KEY: this speaks of a cluster"),
        ("TEMPORAL_TLS_CLIENT_CERT_PATH", "/no/such/file", "No such file"),
    ],
)
async def test_a_configuration_that_leads_nowhere_starts_no_embedded_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, told: str
) -> None:
    monkeypatch.setenv(variable, value)

    assert told in await refusal(tmp_path)


async def test_an_embedded_server_that_cannot_start_is_a_failed_connection(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(CannotConnect, match="SURESTEP_HOME"):
        async with connection(Settings(home=tmp_path / "file" / "home")):
            pass


async def test_an_error_in_the_body_stays_what_it_is(server: ServerFolder) -> None:
    with pytest.raises(ZeroDivisionError):
        async with connection(Settings(home=server.path)):
            raise ZeroDivisionError
