"""The SDK's runtime: its own log, and the address at which metrics are served."""

import logging
import socket
from functools import cache
from typing import Final

from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    PrometheusConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)

from surestep.errors import SurestepError
from surestep.telemetry.meters import DECISION_LATENCY

PEOPLE_TAKE: Final = (10, 60, 300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600)
"""Bounds of the buckets for how long a question stands, in seconds."""


class MetricsUnavailable(SurestepError):
    """Metrics cannot be served where SURESTEP_METRICS says."""


@cache
def runtime() -> Runtime:
    """For whoever is no worker. The SDK writes its own log to stderr."""
    return Runtime(telemetry=TelemetryConfig(logging=LoggingConfig(filter=_filter())))


@cache
def worker_runtime(metrics: str | None) -> Runtime:
    """For a worker: `host:port` to serve metrics at, at `/metrics`; the SDK's log becomes ours.

    Raises MetricsUnavailable.
    """
    forwarding = LogForwardingConfig(
        logging.getLogger("temporalio.core"),
        prepend_target_on_message=False,
        append_log_fields_to_message=False,  # they can hold a failure's text
    )
    log = LoggingConfig(filter=_filter(), forwarding=forwarding)
    if metrics is None:
        return Runtime(telemetry=TelemetryConfig(logging=log))
    prometheus = PrometheusConfig(
        bind_address=_resolved(metrics),
        counters_total_suffix=True,
        unit_suffix=True,
        durations_as_seconds=True,
        histogram_bucket_overrides={DECISION_LATENCY: PEOPLE_TAKE},
    )
    try:
        return Runtime(telemetry=TelemetryConfig(logging=log, metrics=prometheus))
    except (RuntimeError, ValueError) as error:
        raise MetricsUnavailable(
            f"SURESTEP_METRICS={metrics!r} cannot be used: {error}. Give each worker of a machine "
            "a port of its own."
        ) from error


def _filter() -> str:
    """No line for every repeated call of an outage: whoever waits through one says so, once."""
    usual = TelemetryFilter(core_level="WARN", other_level="ERROR").formatted()
    return f"{usual},temporalio_client::retry=ERROR"


def _resolved(listen: str) -> str:
    """The SDK wants an address, no name."""
    host, _, port = listen.rpartition(":")
    try:
        family, *_, where = socket.getaddrinfo(
            host.strip("[]"), int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise MetricsUnavailable(
            f"SURESTEP_METRICS={listen!r} cannot be used: {host} has no address ({error.strerror})"
        ) from error
    return f"[{where[0]}]:{port}" if family is socket.AF_INET6 else f"{where[0]}:{port}"
