"""Plain Temporal: a workflow with one activity, all defaults, the key passed to the service."""

import asyncio
import sys
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.worker import Worker

with workflow.unsafe.imports_passed_through():
    from tests.bench.peers.protocol import charged, serve

QUEUE = "plain"


@activity.defn
async def charge(url: str, key: str) -> str:
    return await charged(url, key)


@workflow.defn
class Plain:
    @workflow.run
    async def run(self, url: str, key: str) -> str:
        # One of the two time limits must be given; retries are as they come.
        return await workflow.execute_activity(
            charge, args=[url, key], start_to_close_timeout=timedelta(seconds=5)
        )


async def main(address: str) -> None:
    client = await Client.connect(address)

    async def perform(url: str, key: str) -> str:
        handle = await client.start_workflow(
            Plain.run,
            args=[url, key],
            id=f"plain/{key}",
            task_queue=QUEUE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )
        return await handle.result()

    async with Worker(client, task_queue=QUEUE, workflows=[Plain], activities=[charge]):
        await serve(perform)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
