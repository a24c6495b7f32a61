"""Record the histories against which every later version is replayed.

    python -m tests.replay.record            all stories, about half a minute
    python -m tests.replay.record NAME …     these only

The files in tests/replay/histories are raw: what the server gave, not normalised. They say
nothing of the machine they were recorded on; `machine_traces` sees to that before they are written.

Record anew only while no step that runs an older version can be open. Afterwards a recorded
history is a promise: keep the old file, and version the change that breaks it.
"""

import asyncio
import base64
import json
import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client, WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

import workflows.settling
from activities.examine import Examiner
from activities.plan import Planner
from surestep import Surestep, Tools
from surestep.embedded_process import find_binary
from surestep.visibility import SEARCH_ATTRIBUTES
from tests.replay import pauses as pauses  # registers its stories
from tests.replay import people as people
from tests.replay.stage import Stage
from tests.replay.stories import RENEW_AT, STORIES, Story
from worker import WORKFLOWS, build_worker, workflow_runner

HISTORIES = Path(__file__).parent / "histories"
RECORDER = "recorder"  # instead of the process and host that identities carry by default

_MACHINE = re.compile(
    r"/(?:home|root|Users|tmp|work|usr|opt|var)/"  # folders, as stack traces name them
    r"|site-packages|\.py\b"
    r"|\d+@[\w.-]+"  # process and host
)


def machine_traces(history: str, *names: str) -> list[str]:
    """What in a recorded history tells of a machine, `names` of this one included."""
    found = set()
    for text in _texts(json.loads(history)):
        found |= {match.group() for match in _MACHINE.finditer(text)}
        found |= {name for name in names if name in text}
    return sorted(found)


def _texts(node: object) -> Iterator[str]:
    """Every text in the JSON, payloads decoded."""
    match node:
        case dict():
            for key, value in node.items():
                if key == "data" and isinstance(value, str):
                    yield base64.b64decode(value).decode(errors="replace")
                else:
                    yield from _texts(value)
        case list():
            for value in node:
                yield from _texts(value)
        case str():
            yield node


@asynccontextmanager
async def _server():
    arguments = [
        text
        for name, kind in SEARCH_ATTRIBUTES.items()
        for text in ("--search-attribute", f"{name}={kind}")
    ]
    async with await WorkflowEnvironment.start_local(
        dev_server_existing_path=find_binary(),
        dev_server_extra_args=arguments,
        dev_server_log_level="error",
        data_converter=pydantic_data_converter,
        identity=RECORDER,
    ) as environment:
        yield environment.client


def _worker(client: Client, story: Story) -> Worker:
    tools = Tools(*story.tools)
    if story.works:
        return build_worker(client, tools, task_queue=story.name, grace=timedelta(0))
    examiner = Examiner(None, client)
    return Worker(
        client,
        task_queue=story.name,
        workflows=WORKFLOWS,
        activities=[Planner(tools, client).plan, examiner.examine, examiner.examine_notice],
        workflow_runner=workflow_runner(),
        no_remote_activities=True,
    )


async def _record(client: Client, story: Story) -> None:
    step_id = f"recorded/{story.name}"
    limit = workflows.settling.EVENTS_LIMIT
    stage = Stage(client, Surestep(client, task_queue=story.name), step_id)
    if story.renews:
        workflows.settling.EVENTS_LIMIT = RENEW_AT
    worker = _worker(client, story)
    running = asyncio.create_task(worker.run())
    try:
        workflow_id = await story.play(stage) or step_id
        handle = client.get_workflow_handle(workflow_id)
        newest = await handle.describe()
        _write(story.name, await handle.fetch_history())
        if story.renews:
            first = newest.raw_description.workflow_execution_info.first_run_id
            before = client.get_workflow_handle(workflow_id, run_id=first)
            _write(f"{story.name}_before", await before.fetch_history())
    finally:
        workflows.settling.EVENTS_LIMIT = limit
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def _write(name: str, history: WorkflowHistory) -> None:
    lines = (json.dumps(event) for event in history.to_json_dict()["events"])
    text = '{"events": [\n' + ",\n".join(lines) + "\n]}\n"
    traces = machine_traces(text, socket.gethostname(), str(Path.home()))
    if traces:
        raise SystemExit(f"{name}: the history tells of this machine: {', '.join(traces)}")
    (HISTORIES / f"{name}.json").write_text(text)
    print(f"{name}: {len(history.events)} events, {len(text)} bytes", flush=True)


async def main(names: list[str]) -> None:
    HISTORIES.mkdir(exist_ok=True)
    async with _server() as client:
        for name in names or STORIES:
            await _record(client, STORIES[name])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
    # The SDK can crash while the interpreter is being taken down; everything is written by now.
    sys.stdout.flush()
    os._exit(0)
