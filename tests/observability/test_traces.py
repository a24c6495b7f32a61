"""One trace, from the agent's call to the request that the service gets, in nobody's words."""

import asyncio
import sys

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import use_span

from surestep.http.service import Service
from surestep.telemetry import spans, traces
from surestep.telemetry.discreet import DiscreetTracer
from surestep.telemetry.spans import annotate, exchanging, trace_ids
from surestep.telemetry.traces import TracesUnavailable, tracing
from tests.observability.conftest import CANARY, LOST, OK


def attributes(span):
    return {one.key: one.value.string_value or one.value.int_value for one in span.attributes}


def of(observed, name, step):
    return [
        span
        for span in observed.spans
        if span.name == name and attributes(span).get("temporalWorkflowID") == step
    ]


def test_the_agent_s_call_workflow_activity_and_request_are_one_trace(observed):
    (run,) = of(observed, "RunActivity:execute", OK)
    (ordered,) = of(observed, "StartActivity:execute", OK)
    (started,) = [span for span in observed.agent_spans if OK in str(span.attributes)]
    (request,) = [span for span in observed.spans if span.parent_span_id == run.span_id]
    assert run.parent_span_id == ordered.span_id
    assert ordered.parent_span_id.hex() == f"{started.context.span_id:016x}"
    assert {span.trace_id.hex() for span in (run, ordered, request)} == {observed.trace_id}
    (headers,) = observed.headers["/letters"]
    assert headers["traceparent"].split("-")[1:3] == [observed.trace_id, request.span_id.hex()]


def test_every_lookup_carries_the_trace_as_well(observed):
    assert observed.headers["/broken"]
    assert all(observed.trace_id in one["traceparent"] for one in observed.headers["/broken"])


def test_an_activity_s_span_names_action_tool_attempt_and_outcome(observed):
    (run,) = of(observed, "RunActivity:execute", LOST)
    known = attributes(run)
    assert known["surestep.action"] == f"{LOST}/parcel"
    assert known["surestep.tool"] == "parcel"
    assert known["surestep.attempt"] == 1
    assert known["surestep.outcome"] == "ambiguous"


def test_a_decision_is_linked_to_the_trace_of_whoever_made_it(observed):
    (handled,) = of(observed, "HandleUpdate:decide", LOST)
    assert handled.trace_id.hex() == observed.trace_id
    (link,) = handled.links
    assert link.trace_id.hex() != observed.trace_id


def test_the_watch_after_a_step_stays_in_its_trace(observed):
    (watch,) = of(observed, "StartChildWorkflow:LateWatch", LOST)
    assert watch.trace_id.hex() == observed.trace_id


def test_no_span_of_a_workflow_stays_open(observed):
    ours = [span for span in observed.spans if "Workflow" in span.name]
    assert ours
    assert all(span.start_time_unix_nano == span.end_time_unix_nano for span in ours)


def test_no_span_holds_an_argument_a_note_or_an_exception_s_text(observed):
    assert not any(CANARY in str(span) for span in observed.spans)
    assert not any(CANARY in span.to_json() for span in observed.agent_spans)


@pytest.fixture
def exported():
    provider, exporter = TracerProvider(shutdown_on_exit=False), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return DiscreetTracer(provider.get_tracer("test")), exporter


def test_a_span_tells_of_an_exception_its_type_only(exported):
    tracer, exporter = exported
    span = tracer.start_span("RunActivity:plan")
    span.record_exception(ValueError(CANARY))
    span.set_status(spans._trace().Status(spans._trace().StatusCode.ERROR, CANARY))
    span.end()
    (ended,) = exporter.get_finished_spans()
    assert CANARY not in ended.to_json()
    assert ended.events[0].attributes == {"exception.type": "ValueError"}
    assert not ended.status.is_ok


def test_an_exception_that_passes_through_leaves_no_text_either(exported):
    tracer, exporter = exported
    with pytest.raises(ValueError, match=CANARY), tracer.start_as_current_span("x"):
        raise ValueError(CANARY)
    assert CANARY not in exporter.get_finished_spans()[0].to_json()


@pytest.mark.parametrize(
    ("signal", "shown"), [("decide", "decide"), ("notice", "notice"), (CANARY, "other")]
)
def test_a_span_is_not_named_after_a_signal_that_somebody_made_up(exported, signal, shown):
    tracer, exporter = exported
    tracer.start_span(f"HandleSignal:{signal}").end()
    assert exporter.get_finished_spans()[0].name == f"HandleSignal:{shown}"


def test_outside_of_a_trace_nothing_is_added_to_a_request_and_to_the_log():
    annotate(action="a/b")
    with exchanging("POST", "http://127.0.0.1/a") as exchanged:
        assert exchanged.headers == {}
    assert trace_ids() == {}


def test_a_trace_that_is_not_sampled_is_not_told_to_services():
    trace = spans._trace()
    context = trace.SpanContext(1, 2, is_remote=True, trace_flags=trace.TraceFlags(0))
    with (
        use_span(trace.NonRecordingSpan(context)),
        exchanging("POST", "http://127.0.0.1/a") as exchanged,
    ):
        assert exchanged.headers == {}


def test_a_service_s_traceparent_can_be_switched_off():
    assert Service("http://127.0.0.1").traceparent
    assert not Service("http://127.0.0.1", traceparent=False).traceparent


def test_without_a_collector_and_without_a_provider_no_client_is_intercepted():
    async def interceptors():
        async with tracing(None) as found:
            return found

    assert asyncio.run(interceptors()) == ()


def test_an_agent_that_has_set_up_opentelemetry_is_joined_wherever_the_collector_is(monkeypatch):
    async def interceptors():
        async with tracing("http://127.0.0.1:1") as found:
            return found

    provider = TracerProvider(shutdown_on_exit=False)
    monkeypatch.setattr(spans._trace(), "get_tracer_provider", lambda: provider)
    (interceptor,) = asyncio.run(interceptors())
    assert interceptor.text_map_propagator.fields == {"traceparent", "tracestate"}  # no baggage


def test_traces_without_their_packages_are_refused_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(TracesUnavailable, match=r"pip install 'surestep\[traces\]'"):
        traces._export_to("http://127.0.0.1:1")
