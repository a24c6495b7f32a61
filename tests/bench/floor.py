"""The floor: the smallest workflow with one activity, which makes the same call to the service.

It runs on the same server and client. Once as Temporal's own defaults have it, and once tuned: with
the options and the sandbox of our worker, and started as eagerly.
"""

from datetime import timedelta

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.worker import Worker

with workflow.unsafe.imports_passed_through():
    from pydantic import BaseModel

    from .charging import Charge, charged

QUEUE, TUNED = "floor", "floor-tuned"


class FloorCall(BaseModel):
    """The input of workflow and activity."""

    url: str
    key: str
    charge: Charge


@activity.defn(name="floor_charge")
async def floor_charge(call: FloorCall) -> str:
    return await charged(call.url, call.key, call.charge)


@workflow.defn(name="Floor")
class Floor:
    @workflow.run
    async def run(self, call: FloorCall) -> str:
        return await workflow.execute_activity(
            floor_charge,
            call,
            start_to_close_timeout=timedelta(seconds=30),
            retry_policy=RetryPolicy(maximum_attempts=1),
        )


def floor_worker(client: Client) -> Worker:
    """A worker of the floor, with Temporal's defaults."""
    return Worker(client, task_queue=QUEUE, workflows=[Floor], activities=[floor_charge])


def tuned_worker(ours: Worker) -> Worker:
    """A worker of the floor with the options of `ours`, without what is Surestep's own in them."""
    options = ours.config()
    runner = options["workflow_runner"]
    restrictions = runner.restrictions.with_passthrough_modules("tests")
    changes = {
        "task_queue": TUNED,
        "workflows": [Floor],
        "activities": [floor_charge],
        "interceptors": [],
        "workflow_runner": type(runner)(restrictions=restrictions),
    }
    return Worker(**{**options, **changes})


async def on_the_floor(
    client: Client, url: str, step_id: str, charge: Charge, *, tuned: bool = False
) -> str:
    """The id of the effect."""
    call = FloorCall(url=url, key=f"{step_id}/charge", charge=charge)
    handle = await client.start_workflow(
        Floor.run,
        call,
        id=step_id,
        task_queue=TUNED if tuned else QUEUE,
        request_eager_start=tuned,
    )
    return await handle.result()
