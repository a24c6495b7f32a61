"""What an operator does to a step, and what must hold afterwards."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

from temporalio.api.common.v1 import Payload, Payloads, SearchAttributes, WorkflowExecution
from temporalio.api.enums.v1 import EventType, ResetReapplyExcludeType
from temporalio.api.workflowservice.v1 import (
    ResetWorkflowExecutionRequest,
    StartWorkflowExecutionRequest,
)
from temporalio.client import Client, WorkflowHandle
from temporalio.converter import PayloadConverter

from surestep import Action, State, Surestep, Tool
from surestep.testing import World
from surestep.visibility import SEARCH_ATTRIBUTES
from tests.steps import facts, tools
from tests.waiting import eventually

LIMIT = timedelta(seconds=30)
TOOLS = [tools.keyed, tools.lookup, tools.hasty, tools.blind]
SIGHTED = [tools.keyed, tools.lookup, tools.hasty]


def charge(tool: Tool) -> Action:
    return tool(order="o-1", cents=2500)


def as_another_language(tool: Tool, cents: int = 2500) -> dict[str, object]:
    """The same step, submitted as plain JSON."""
    return {"actions": [{"tool": tool.name, "arguments": {"order": "o-1", "cents": cents}}]}


async def finished_tasks(client: Client, step_id: str) -> list[int]:
    """The events to which the Web UI offers to reset: workflow tasks that were completed."""
    history = await client.get_workflow_handle(step_id).fetch_history()
    completed = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    return [event.event_id for event in history.events if event.event_type == completed]


async def one_for_each_point(
    client: Client, step_id: str, story: Callable[[str], Awaitable[None]]
) -> list[str]:
    """Steps that have gone through one story, as many as it has points to reset to."""
    first = f"{step_id}/0"
    await story(first)
    points = len(await finished_tasks(client, first))
    others = [f"{step_id}/{number}" for number in range(1, points)]
    await asyncio.gather(*(story(one) for one in others))
    return [first, *others]


async def waits_for_its_next_try(client: Client, step_id: str) -> bool:
    history = await client.get_workflow_handle(step_id).fetch_history()
    return any(event.event_type == EventType.EVENT_TYPE_TIMER_STARTED for event in history.events)


async def between_plan_and_send(client: Client, step_id: str) -> int | None:
    """The workflow task that was completed after the plan was recorded and before the dispatch."""
    history = await client.get_workflow_handle(step_id).fetch_history()
    types = [event.event_type for event in history.events]
    plan = types.index(EventType.EVENT_TYPE_MARKER_RECORDED)
    send = types.index(EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)
    points = await finished_tasks(client, step_id)
    return next((point for point in points if plan < point - 1 < send), None)


async def reset_to(client: Client, step_id: str, position: int) -> None:
    """Reset to one of its finished workflow tasks, or to the last where there are fewer."""
    points = await finished_tasks(client, step_id)
    await reset(client, step_id, points[min(position, len(points) - 1)])


async def reset(
    client: Client, step_id: str, event_id: int, run_id: str = "", *, messages: bool = True
) -> None:
    """Reset to the workflow task that was completed by this event, of the newest run or another.

    Without `messages`, the Web UI's boxes are ticked that leave out signals and updates.
    """
    kinds = ResetReapplyExcludeType
    left_out = (
        []
        if messages
        else [
            kinds.RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL,
            kinds.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE,
        ]
    )
    await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=step_id, run_id=run_id),
            reason="a test",
            workflow_task_finish_event_id=event_id,
            reset_reapply_exclude_types=left_out,
            request_id=str(uuid4()),
        )
    )


async def one_effect_under_one_key(
    world: World, key: str, *, effects: int = 1, requests: int | None = None
) -> None:
    """The ledger's word: so many effects, and of all requests the same key and the same bytes."""
    assert await world.count(key) == effects
    sent = await facts.posts(world, f"{key}*")
    assert len({(one.key, one.sha256) for one in sent}) == 1
    assert requests is None or len(sent) == requests


async def start_like(
    client: Client, step_id: str, new_id: str | None = None, *, edited: object = None
) -> None:
    """The Web UI's "Start Workflow Like This One": input, list attributes and summary are copied.

    A person may edit all of it. The form suggests the same id; no memo is copied.
    """
    run = client.get_workflow_handle(step_id)
    described = (await run.describe()).raw_description
    shown = described.workflow_execution_info.search_attributes.indexed_fields
    copied = {
        name: Payload(metadata={"encoding": b"json/plain"}, data=value.data)
        for name, value in shown.items()
        if name in SEARCH_ATTRIBUTES
    }
    given = (
        [await _first_input(run)]
        if edited is None
        else PayloadConverter.default.to_payloads([edited])
    )
    await client.workflow_service.start_workflow_execution(
        StartWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_id=new_id or step_id,
            workflow_type=described.workflow_execution_info.type,
            task_queue=described.execution_config.task_queue,
            input=Payloads(payloads=given),
            search_attributes=SearchAttributes(indexed_fields=copied),
            user_metadata=described.execution_config.user_metadata,
            request_id=str(uuid4()),
        )
    )


async def _first_input(run: WorkflowHandle[Any, Any]) -> Payload:
    async for event in run.fetch_history_events(page_size=1):
        return event.workflow_execution_started_event_attributes.input.payloads[0]
    raise AssertionError("the history is empty")


async def told_apart(
    surestep: Surestep,
    world: World,
    tool: Tool,
    step_id: str,
    *,
    requests: int | None = None,
    word: str = "",
) -> None:
    """A tool that can look or repeat ends confirmed, the blind one asks; one effect.

    The record holds `word`, which says what was done to the step.
    """
    if tool is tools.blind:
        known = await facts.parked(surestep, step_id)
    else:
        known = await surestep.handle(step_id).outcome(within=LIMIT)
        assert known.state is State.CONFIRMED, facts.told(known)
    assert word in facts.told(known), facts.told(known)
    await one_effect_under_one_key(world, f"{step_id}/{tool.name}", requests=requests)


async def nothing_is_sent_again(
    surestep: Surestep, world: World, *step_ids: str, effects: int = 1
) -> None:
    """Of a blind tool, which has no other protection than to know of what ran before."""

    async def settled(one: str) -> bool:
        known = await surestep.handle(one).records()
        asked = any(record.asked for record in known)
        return asked or bool(known and all(record.closed for record in known))

    for one in step_ids:
        await eventually(lambda one=one: settled(one))  # type: ignore[misc]
    wrong = [one for one in step_ids if await world.count(f"{one}/*") != effects]
    records = [await facts.record(surestep, one) for one in wrong]
    stories = [facts.told(record) for record in records if record]
    assert not wrong, f"not {effects}:\n" + "\n\n".join(stories)
