"""What tracing leaves in a history: a header, which no replay needs and none is disturbed by."""

import dataclasses

from temporalio.client import WorkflowHistory
from temporalio.contrib.opentelemetry import TracingInterceptor
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from tests.replay.record import HISTORIES
from worker import WORKFLOWS, workflow_runner

UNTRACED = HISTORIES / "confirmed_by_a_lookup.json"


async def replay(history, *interceptors):
    await Replayer(
        workflows=WORKFLOWS,
        workflow_runner=workflow_runner(),
        data_converter=pydantic_data_converter,
        interceptors=interceptors,
    ).replay_workflow(history)


def header_sizes(history):
    for event in history.events:
        for part in (
            event.workflow_execution_started_event_attributes,
            event.activity_task_scheduled_event_attributes,
        ):
            if part.header.fields:
                yield part.header.ByteSize()


async def test_a_traced_step_goes_on_with_a_worker_that_traces_nothing(observed):
    await replay(observed.history)


async def test_an_untraced_step_goes_on_with_a_worker_that_traces():
    history = WorkflowHistory.from_json("", UNTRACED.read_text())
    started = history.events[0].workflow_execution_started_event_attributes
    history = dataclasses.replace(history, workflow_id=started.workflow_id)
    await replay(history, TracingInterceptor())


def test_a_trace_costs_the_history_some_hundred_bytes_for_each_activity(observed):
    sizes = list(header_sizes(observed.history))
    assert len(sizes) == 2  # the start and the attempt
    assert max(sizes) < 200
