"""Where Temporal is: the cluster that Temporal's own configuration names, or the embedded server.

Temporal's variables and profile files (`temporalio.envconfig`) decide, as they do for its command
line tool. Only where they name no cluster at all is the embedded server used.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import quote, quote_plus

from temporalio.client import Client, Interceptor
from temporalio.converter import DataConverter
from temporalio.envconfig import ClientConfig, ClientConnectConfig
from temporalio.runtime import Runtime

from surestep.embedded import EmbeddedServerError, embedded_server
from surestep.encryption.converter import configured_converter
from surestep.errors import CannotConnect
from surestep.settings import Settings
from surestep.telemetry.runtime import runtime, worker_runtime
from surestep.telemetry.traces import tracing
from surestep.visibility import WAITING

CONNECTS_WITHIN: Final = timedelta(seconds=15)
DEFAULT_ADDRESS: Final = "localhost:7233"
"""What Temporal's tools assume for a profile without an address."""
DEFAULT_NAMESPACE: Final = "default"


@dataclass(frozen=True)
class Connection:
    """A connected client, and what a person needs to find the same place.

    `ui_url` is the base of the Web UI without a slash at its end, None where it is not known.
    """

    client: Client
    ui_url: str | None
    address: str
    namespace: str
    embedded: bool


@asynccontextmanager
async def connection(settings: Settings, *, as_worker: bool = False) -> AsyncIterator[Connection]:
    """Connect with the data converter that every process shares: pydantic's, encrypted by the key
    ring where there is one. An embedded server lasts at least until the exit.

    as_worker  serve SURESTEP_METRICS, and let the SDK write to Python's log; whoever looks beside
               a worker must not take its address

    Raises `CannotConnect`, `KeyFileError`, `MetricsUnavailable` and `TracesUnavailable`.
    """
    converter = configured_converter(settings)
    async with AsyncExitStack() as stack:
        config, ui_url = configured(), settings.ui
        embedded = config is None
        if config is None:
            try:
                server = await stack.enter_async_context(embedded_server(settings.home))
            except EmbeddedServerError as error:
                raise CannotConnect(str(error)) from error
            config = ClientConnectConfig(target_host=server.address)
            ui_url = ui_url or server.ui_url
        interceptors = await stack.enter_async_context(tracing(settings.traces))
        served = worker_runtime(settings.metrics) if as_worker else runtime()
        client = await _connect(config, converter, served, interceptors)
        yield Connection(client, ui_url, config["target_host"], client.namespace, embedded)


def workflow_url(ui_url: str, namespace: str, workflow_id: str) -> str:
    """The Web UI's page of the latest run. A "%" in the id, which no step id has, may lead astray:
    the Web UI's server unescapes twice."""
    place = quote(namespace, safe=""), quote(workflow_id, safe="")
    return f"{ui_url.rstrip('/')}/namespaces/{place[0]}/workflows/{place[1]}"


def waiting_url(ui_url: str, namespace: str) -> str:
    """The Web UI's list of what waits for a person."""
    place = f"{ui_url.rstrip('/')}/namespaces/{quote(namespace, safe='')}/workflows"
    return f"{place}?query={quote_plus(WAITING, safe='=')}"


def configured() -> ClientConnectConfig | None:
    """What Temporal's own configuration says; None: nothing, so the embedded server is meant.

    Raises `CannotConnect`.
    """
    try:
        config = ClientConfig.load_client_connect_config()
        profiles = ClientConfig.load().profiles
    except (RuntimeError, OSError) as error:
        raise CannotConnect(
            f"Temporal's configuration cannot be read: {error}. Correct the TEMPORAL_ variables "
            "or the profile file; `temporal config list` shows what it holds."
        ) from error
    file = os.environ.get("TEMPORAL_CONFIG_FILE")
    if file and not Path(file).exists():
        # The SDK takes a missing file for an empty one.
        raise CannotConnect(f"TEMPORAL_CONFIG_FILE={file} does not exist. Correct or unset it.")
    if (os.environ.get("TEMPORAL_PROFILE") or "default") in profiles:
        config.setdefault("target_host", DEFAULT_ADDRESS)
    if "target_host" in config:
        return config
    if config not in ({}, {"namespace": DEFAULT_NAMESPACE}):
        names = ", ".join(sorted(name for name in os.environ if name.startswith("TEMPORAL_")))
        raise CannotConnect(
            f"{names}: this speaks of a cluster, but no address is given. Set "
            "TEMPORAL_ADDRESS=host:port, or unset them to use the embedded server."
        )
    return None


async def _connect(
    config: ClientConnectConfig,
    converter: DataConverter,
    served: Runtime,
    interceptors: Sequence[Interceptor],
) -> Client:
    limit = CONNECTS_WITHIN.total_seconds()
    try:
        return await asyncio.wait_for(
            Client.connect(
                **config, data_converter=converter, runtime=served, interceptors=interceptors
            ),
            limit,
        )
    except TimeoutError as error:
        raise _cannot_connect(config, f"no answer within {limit:g} s") from error
    except (RuntimeError, ValueError) as error:
        raise _cannot_connect(config, _cause(str(error))) from error


def _cannot_connect(config: ClientConnectConfig, cause: str) -> CannotConnect:
    return CannotConnect(
        f"Temporal at {config['target_host']} cannot be reached: {cause}. Start it, or correct "
        "TEMPORAL_ADDRESS or the profile; with neither, Surestep runs an embedded server."
    )


def _cause(text: str) -> str:
    """The operating system's own words, out of the SDK's dump of nested Rust errors."""
    if "InvalidContentType" in text:
        return (
            "it does not speak TLS, which TEMPORAL_API_KEY or TEMPORAL_TLS switched on "
            "(TEMPORAL_TLS=false switches it off)"
        )
    words = re.findall(r'(?:message|error): "([^"]+)"', text)
    return words[-1] if words else text
