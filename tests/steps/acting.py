"""A worker that only acts, N actions at a time: `python -m tests.steps.acting N`.

While it works on N it polls for nothing, so no task is handed to it while it is frozen.
"""

import asyncio
import os
import sys

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker

from activities.examine import Examiner
from activities.execute import Executor
from activities.look import Observer
from activities.plan import Planner
from surestep.settings import Settings
from surestep.tool import Tools
from surestep.toolbox import load_tools
from worker import WORKFLOWS, workflow_runner


def deciding_worker(client: Client, tools: Tools, queue: str) -> Worker:
    """Runs workflows and plans; whatever else is to be done waits for an acting worker."""
    return Worker(
        client,
        task_queue=queue,
        workflows=WORKFLOWS,
        activities=[Planner(tools, client).plan, Examiner(None, client).examine],
        workflow_runner=workflow_runner(),
        no_remote_activities=True,
    )


def acting_worker(client: Client, tools: Tools, queue: str, *, at_once: int = 100) -> Worker:
    """Carries out activities, so many at once."""
    observer = Observer(tools)
    return Worker(
        client,
        task_queue=queue,
        activities=[Executor(tools).execute, observer.verify, observer.fence],
        max_concurrent_activities=at_once,
    )


async def main() -> None:
    settings = Settings.from_environment()
    address = os.environ["TEMPORAL_ADDRESS"]
    client = await Client.connect(address, data_converter=pydantic_data_converter)
    tools = load_tools(settings.tools)
    async with acting_worker(client, tools, settings.task_queue, at_once=int(sys.argv[1])):
        print("serving", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
