"""Plain Temporal, as it is written in a first afternoon: a workflow, one activity, no Surestep.

`python -m tests.evidence.plain` is its worker. A step with the name of a point in its id
(`…/answered/…`) stops there for ever, if the worker is started with GATE=1, and says so in the log.
"""

import asyncio
import os
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

with workflow.unsafe.imports_passed_through():
    import httpx

PROMPT = timedelta(seconds=30)
ANSWERS_WITHIN = float(os.environ.get("TOOL_SECONDS", "10"))


async def gate(point: str) -> None:
    step_id = activity.info().workflow_id or ""
    if os.environ.get("GATE") and point in step_id.split("/"):
        print(f"{step_id} is there", flush=True)
        await asyncio.Event().wait()


@activity.defn
async def prepare(step_id: str) -> None:
    await gate("planned")


@activity.defn
async def conclude(step_id: str) -> None:
    await gate("recorded")


@activity.defn
async def charge(step_id: str) -> str:
    await gate("scheduled")
    url = f"{os.environ['WORLD_URL']}/lookup/effects"
    async with httpx.AsyncClient(timeout=ANSWERS_WITHIN, verify=False, trust_env=False) as http:
        key = {"Idempotency-Key": f"{step_id}/charge"}
        answer = await http.post(url, json={"order": "o-1", "cents": 2500}, headers=key)
        answer.raise_for_status()
    await gate("answered")
    return str(answer.json()["id"])


@workflow.defn
class PlainStep:
    """`attempts` 0: Temporal's default, which retries without an end. `waits`: for a person."""

    def __init__(self) -> None:
        self._approved = False

    @workflow.run
    async def run(self, attempts: int, waits: bool) -> str:
        step_id = workflow.info().workflow_id
        await workflow.execute_local_activity(prepare, step_id, start_to_close_timeout=PROMPT)
        if waits:
            await workflow.wait_condition(lambda: self._approved)
        made = await workflow.execute_activity(
            charge,
            step_id,
            start_to_close_timeout=timedelta(seconds=2 * ANSWERS_WITHIN),
            retry_policy=RetryPolicy(maximum_attempts=attempts),
        )
        await workflow.execute_local_activity(conclude, step_id, start_to_close_timeout=PROMPT)
        return made

    @workflow.signal
    def approve(self) -> None:
        self._approved = True


def worker(client: Client, queue: str) -> Worker:
    restrictions = SandboxRestrictions.default.with_passthrough_modules("httpx")
    return Worker(
        client,
        task_queue=queue,
        workflows=[PlainStep],
        activities=[prepare, charge, conclude],
        workflow_runner=SandboxedWorkflowRunner(restrictions=restrictions),
    )


async def main() -> None:
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"])
    async with worker(client, os.environ["SURESTEP_TASK_QUEUE"]):
        print("serving", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
