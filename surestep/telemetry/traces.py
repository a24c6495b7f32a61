"""Tracing of this process: set up by SURESTEP_TRACES, or joined where it is set up already."""

import asyncio
import importlib.util
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Final

from temporalio.client import Interceptor

from surestep.errors import SurestepError

SERVICE: Final = "surestep"
FLUSHED_WITHIN: Final = timedelta(seconds=3)
ANSWERS_WITHIN: Final = timedelta(seconds=5)
"""A collector that does not answer holds up nothing but the thread that exports."""


class TracesUnavailable(SurestepError):
    """SURESTEP_TRACES is set, and the packages that it needs are not there."""


@asynccontextmanager
async def tracing(collector: str | None) -> AsyncIterator[Sequence[Interceptor]]:
    """The interceptors of a client: none where nothing is traced.

    A process that has configured OpenTelemetry itself is joined: its provider says what is
    sampled and where it goes, whatever `collector` is. Otherwise spans go to `collector`, the
    base URL of an OTLP receiver. They have left when the context ends.

    Raises TracesUnavailable.
    """
    ours = None
    if not _configured():
        if collector is None:
            yield ()
            return
        ours = _export_to(collector)
    yield _interceptors()
    if ours is not None:
        with suppress(TimeoutError):
            flush = asyncio.to_thread(ours.force_flush)
            await asyncio.wait_for(flush, FLUSHED_WITHIN.total_seconds())


def _configured() -> bool:
    """Whether somebody has set a global provider. Nobody has who has not imported the API."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return False
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def _export_to(collector: str) -> Any:
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise TracesUnavailable(
            f"SURESTEP_TRACES is set, and {error.name} is not installed: "
            "pip install 'surestep[traces]', or unset it"
        ) from error
    named = "OTEL_SERVICE_NAME" in os.environ or "service.name" in os.environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    provider = TracerProvider(resource=Resource.create({} if named else {"service.name": SERVICE}))
    exporter = OTLPSpanExporter(
        endpoint=f"{collector}/v1/traces", timeout=int(ANSWERS_WITHIN.total_seconds())
    )
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return provider


def _interceptors() -> Sequence[Interceptor]:
    # An agent can have the API without the SDK, which Temporal's module imports.
    if importlib.util.find_spec("opentelemetry.sdk") is None:
        return ()
    from opentelemetry import trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
    from temporalio.contrib.opentelemetry import TracingInterceptor

    from surestep.telemetry import spans
    from surestep.telemetry.discreet import DiscreetTracer

    spans.use(trace)
    interceptor = TracingInterceptor(DiscreetTracer(trace.get_tracer(SERVICE)))
    # Not baggage: it is the agent's, and would stand in every history unencrypted.
    interceptor.text_map_propagator = TraceContextTextMapPropagator()
    return (interceptor,)
