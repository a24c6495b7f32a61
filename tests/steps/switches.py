"""What the Web UI and the command line can do to an activity that is pending."""

from datetime import timedelta
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask
from temporalio.api.activity.v1 import ActivityOptions
from temporalio.api.common.v1 import RetryPolicy, WorkflowExecution
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.api.workflowservice.v1 import (
    PauseActivityRequest,
    ResetActivityRequest,
    UnpauseActivityRequest,
    UpdateActivityOptionsRequest,
)
from temporalio.client import AsyncActivityHandle, Client


async def pending(client: Client, step_id: str) -> PendingActivityInfo | None:
    """The step's only activity, while there is one."""
    described = await client.get_workflow_handle(step_id).describe()
    return next(iter(described.raw_description.pending_activities), None)


async def _known(client: Client, step_id: str) -> dict[str, Any]:
    activity = await pending(client, step_id)
    assert activity, "no activity is pending"
    execution = WorkflowExecution(workflow_id=step_id)
    return {"namespace": client.namespace, "execution": execution, "id": activity.activity_id}


async def pause(client: Client, step_id: str) -> None:
    request = PauseActivityRequest(**await _known(client, step_id), reason="a test")
    await client.workflow_service.pause_activity(request)


async def unpause(client: Client, step_id: str, **options: bool) -> None:
    request = UnpauseActivityRequest(**await _known(client, step_id), **options)
    await client.workflow_service.unpause_activity(request)


async def pause_and_unpause(client: Client, step_id: str) -> None:
    await pause(client, step_id)
    await unpause(client, step_id)


async def pause_and_begin_anew(client: Client, step_id: str) -> None:
    await pause(client, step_id)
    await unpause(client, step_id, reset_attempts=True, reset_heartbeat=True)


async def reset(client: Client, step_id: str, **options: bool) -> None:
    request = ResetActivityRequest(**await _known(client, step_id), **options)
    await client.workflow_service.reset_activity(request)


async def reset_heartbeats_too(client: Client, step_id: str) -> None:
    await reset(client, step_id, reset_heartbeat=True)


async def allow_more(client: Client, step_id: str) -> None:
    """Update options: more time, and attempts of Temporal's own."""
    await _update(client, step_id, timedelta(minutes=5), again_after=timedelta(seconds=1))


async def end_soon(client: Client, step_id: str) -> None:
    """Update options: the attempt is over at once, and the next one comes in an hour."""
    await _update(client, step_id, timedelta(seconds=1), again_after=timedelta(hours=1))


async def end_soon_and_repeat(client: Client, step_id: str) -> None:
    """Update options: the attempt is over at once, and the next one comes right after it."""
    await _update(client, step_id, timedelta(seconds=1), again_after=timedelta(seconds=1))


async def restore_options(client: Client, step_id: str) -> None:
    known = await _known(client, step_id)
    request = UpdateActivityOptionsRequest(**known, restore_original=True)
    await client.workflow_service.update_activity_options(request)


async def _update(
    client: Client, step_id: str, limit: timedelta, *, again_after: timedelta
) -> None:
    again = Duration(seconds=int(again_after.total_seconds()))
    options = ActivityOptions(
        start_to_close_timeout=Duration(seconds=int(limit.total_seconds())),
        retry_policy=RetryPolicy(
            maximum_attempts=9, initial_interval=again, maximum_interval=again
        ),
    )
    paths = ["initial_interval", "maximum_interval", "maximum_attempts"]
    mask = FieldMask(paths=["start_to_close_timeout", *(f"retry_policy.{path}" for path in paths)])
    request = UpdateActivityOptionsRequest(
        **await _known(client, step_id), activity_options=options, update_mask=mask
    )
    await client.workflow_service.update_activity_options(request)


async def by_hand(client: Client, step_id: str) -> AsyncActivityHandle:
    """For `complete` and `fail`."""
    known = await _known(client, step_id)
    described = await client.get_workflow_handle(step_id).describe()
    return client.get_async_activity_handle(
        workflow_id=step_id, run_id=described.run_id, activity_id=known["id"]
    )
