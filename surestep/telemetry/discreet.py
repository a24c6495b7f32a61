"""Spans that repeat nobody's words.

Temporal's interceptor records the text of every exception, with its frames, and names a span after
whatever signal comes in. Both can hold what a trace must not.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.trace import Span, SpanContext, Status, StatusCode, Tracer

from surestep.protocol import ACKNOWLEDGE, DECIDE, NOTICE

SIGNALS: Final = (DECIDE, NOTICE, ACKNOWLEDGE)
HANDLES: Final = "HandleSignal:"


class DiscreetTracer(Tracer):
    """A tracer whose spans tell of an exception only its type."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def start_span(self, name: str, *args: Any, **known: Any) -> Span:
        if name.startswith(HANDLES) and name.removeprefix(HANDLES) not in SIGNALS:
            name = f"{HANDLES}other"
        known |= {"record_exception": False, "set_status_on_exception": False}
        return DiscreetSpan(self._tracer.start_span(name, *args, **known))

    @contextmanager
    def start_as_current_span(  # type: ignore[override]  # whatever else is given goes on
        self, name: str, *args: Any, end_on_exit: bool = True, **known: Any
    ) -> Iterator[Span]:
        span = self.start_span(name, *args, **known)
        with trace.use_span(
            span, end_on_exit, record_exception=False, set_status_on_exception=False
        ):
            yield span


class DiscreetSpan(Span):
    """A span that keeps the types of exceptions, and drops their texts."""

    def __init__(self, span: Span) -> None:
        self._span = span

    def end(self, end_time: int | None = None) -> None:
        self._span.end(end_time)

    def get_span_context(self) -> SpanContext:
        return self._span.get_span_context()

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        self._span.set_attributes(attributes)

    def set_attribute(self, key: str, value: Any) -> None:
        self._span.set_attribute(key, value)

    def add_event(self, name: str, attributes: Any = None, timestamp: int | None = None) -> None:
        self._span.add_event(name, attributes, timestamp)

    def update_name(self, name: str) -> None:
        self._span.update_name(name)

    def is_recording(self) -> bool:
        return self._span.is_recording()

    def set_status(self, status: Status | StatusCode, description: str | None = None) -> None:
        self._span.set_status(status.status_code if isinstance(status, Status) else status)

    def record_exception(
        self,
        exception: BaseException,
        attributes: Any = None,
        timestamp: int | None = None,
        escaped: bool = False,
    ) -> None:
        kind = getattr(exception, "type", None) or type(exception).__name__
        self._span.add_event("exception", {"exception.type": str(kind)}, timestamp)
