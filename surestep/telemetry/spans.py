"""What we add to OpenTelemetry's spans. Without a span that records, everything here is nothing.

OpenTelemetry is optional, and never imported here: where nobody has, there is no span either.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

TRACER = "surestep"


@dataclass
class Exchanged:
    """One HTTP exchange. `headers` go out with it; `status` is what came back."""

    headers: Mapping[str, str] = field(default_factory=dict)
    status: int | None = None


def trace_ids() -> dict[str, str]:
    """The present `trace_id` and `span_id` in hexadecimal; empty outside of a trace."""
    if (trace := _trace()) is None:
        return {}
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}


def annotate(**known: str | int | None) -> None:
    """Attributes `surestep.…` of the present span. Never arguments, never a service's words."""
    if (span := _recording()) is not None:
        for name, value in known.items():
            if value is not None:
                span.set_attribute(f"surestep.{name}", value)


@contextmanager
def exchanging(method: str, url: str) -> Iterator[Exchanged]:
    """A span around one HTTP exchange, without path, query and headers: they can hold arguments.

    The header `traceparent` goes out; `tracestate` and baggage, which are others' words, do not.
    """
    trace = _trace()
    if trace is None or _recording() is None:
        yield Exchanged()
        return
    known: dict[str, Any] = {"http.request.method": method}
    try:
        parts = urlsplit(url)
        known |= {"server.address": parts.hostname or "", "server.port": parts.port or _port(parts)}
    except ValueError:
        pass  # the address is refused later, in words of its own
    with trace.get_tracer(TRACER).start_as_current_span(
        method,
        kind=trace.SpanKind.CLIENT,
        attributes=known,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        exchanged = Exchanged({"traceparent": _traceparent(span.get_span_context())})
        try:
            yield exchanged
        except BaseException as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(trace.StatusCode.ERROR)
            raise
        if exchanged.status is not None:
            span.set_attribute("http.response.status_code", exchanged.status)
            if exchanged.status >= 400:
                span.set_status(trace.StatusCode.ERROR)


def use(trace: Any) -> None:
    """OpenTelemetry's `trace`, where it is known; the sandbox of a workflow hides `sys.modules`."""
    global _used
    _used = trace


_used: Any = None


def _trace() -> Any:
    return _used or sys.modules.get("opentelemetry.trace")


def _recording() -> Any:
    trace = _trace()
    span = trace.get_current_span() if trace else None
    return span if span is not None and span.is_recording() else None


def _port(parts: Any) -> int:
    return 443 if parts.scheme == "https" else 80


def _traceparent(context: Any) -> str:
    """W3C Trace Context, version 00."""
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
