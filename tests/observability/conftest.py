"""One worker, watched from all sides while it does everything once. Tests read what it left."""

import asyncio
import json
import os
import re
import signal
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from temporalio.client import Client, WorkflowHistory
from temporalio.contrib.opentelemetry import TracingInterceptor
from temporalio.contrib.pydantic import pydantic_data_converter

from surestep import Surestep
from surestep.embedded_process import free_port
from surestep.telemetry.discreet import DiscreetTracer
from tests.observability.service import serving
from tests.observability.tools import letter, parcel, slow
from tests.prepared import ROOT, begin
from tests.waiting import eventually

QUEUE = "observed"
CANARY = "k4n4r13nv0g3l"
AGENT_RUN = "run-of-the-agent"
OK, LOST, HELD = "watched/letter", "watched/parcel", "watched/slow"


@dataclass
class Observed:
    """`parked` and `settled` are scrapes; `log` are objects; `trace_id` is the agent's."""

    parked: str
    settled: str
    log: list[dict]
    spans: list
    agent_spans: list
    trace_id: str
    headers: dict[str, list[dict[str, str]]]
    history: WorkflowHistory


@pytest.fixture(scope="session")
def observed(temporal_address, tmp_path_factory):
    with serving() as service:
        log = tmp_path_factory.mktemp("observed") / "worker.log"
        return asyncio.run(watch(temporal_address, service, log))


async def watch(address: str, service, log: Path) -> Observed:
    metrics = f"127.0.0.1:{free_port()}"
    provider, agent_spans = TracerProvider(shutdown_on_exit=False), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(agent_spans))
    tracer = provider.get_tracer("agent")
    client = await Client.connect(
        address,
        data_converter=pydantic_data_converter,
        interceptors=[TracingInterceptor(DiscreetTracer(tracer))],
    )
    surestep = Surestep(client, task_queue=QUEUE)
    scrape = partial(_scrape, f"http://{metrics}/metrics")
    with log.open("wb") as file:
        words = ("-m", "tests.observability.running")
        env = environment(address, service.url, metrics)
        process = await begin(*words, env=env, stdout=file, stderr=file)
        try:
            with tracer.start_as_current_span("agent"):
                held = await surestep.start(HELD, slow(order="3"), run=AGENT_RUN)
                await surestep.start(LOST, parcel(order="2", text=CANARY), run=AGENT_RUN)
                await surestep.run(OK, letter(order="1", text=CANARY), run=AGENT_RUN)
            await asyncio.to_thread(service.asked.wait, 30)
            await client.get_workflow_handle(held.step_id).terminate()
            service.released.set()
            refused = partial(scrape, r"surestep_fences_refused_total\{")
            await eventually(refused, within=40)
            # A scrape in the middle of a count has only some of them.
            overdue = r'surestep_overdue_questions\{[^}]*tool="parcel"[^}]*\} 1'
            unknown = r'surestep_open_steps\{[^}]*state="unknown"[^}]*\} [1-9]'
            parked = await eventually(partial(scrape, overdue, unknown), within=40)
            (record,) = await surestep.handle(LOST).records()
            await surestep.decide(
                LOST, "leave_unknown", by=CANARY, note=CANARY, version=record.version
            )
            settled = await eventually(partial(scrape, "surestep_decision_latency"), within=40)
            history = await client.get_workflow_handle(OK).fetch_history()
        finally:
            process.send_signal(signal.SIGTERM)
            code = await asyncio.wait_for(process.wait(), 40)
            text = await asyncio.to_thread(log.read_text)
            assert code == 0, text
    agent, *_ = [span for span in agent_spans.get_finished_spans() if span.name == "agent"]
    return Observed(
        parked=parked,
        settled=settled,
        log=[json.loads(line) for line in text.splitlines()],
        spans=service.spans,
        agent_spans=list(agent_spans.get_finished_spans()),
        trace_id=f"{agent.context.trace_id:032x}",
        headers={path: service.headers_of(path) for path in ("/letters", "/lost", "/broken")},
        history=history,
    )


def environment(address: str, service: str, metrics: str) -> dict[str, str]:
    ours = ("SURESTEP_", "TEMPORAL_", "OTEL_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {
        "TEMPORAL_ADDRESS": address,
        "SERVICE_URL": service,
        "SURESTEP_TOOLS": "tests.observability.tools:tools",
        "SURESTEP_TASK_QUEUE": QUEUE,
        "SURESTEP_NOTIFY": f"{service}/told",
        "SURESTEP_LOG": "json",
        "SURESTEP_METRICS": metrics,
        "SURESTEP_TRACES": service,
        "SURESTEP_GRACE": "2",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
    }


async def _scrape(url: str, *patterns: str) -> str | None:
    """The metrics, once each of the patterns is in them."""
    try:
        async with httpx.AsyncClient(trust_env=False) as http:
            text = (await http.get(url)).text
    except httpx.TransportError:
        return None
    return text if all(re.search(one, text) for one in patterns) else None
