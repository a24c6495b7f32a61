"""What an operator does to a step, and what must hold afterwards."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import uuid4

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client

from surestep import Action, State, Surestep, Tool
from surestep.testing import World
from tests.steps import facts, tools
from tests.waiting import eventually

LIMIT = timedelta(seconds=30)
TOOLS = [tools.keyed, tools.lookup, tools.hasty, tools.blind]
SIGHTED = [tools.keyed, tools.lookup, tools.hasty]


def charge(tool: Tool) -> Action:
    return tool(order="o-1", cents=2500)


def as_another_language(tool: Tool) -> dict[str, object]:
    """The same step, submitted as plain JSON."""
    return {"actions": [{"tool": tool.name, "arguments": {"order": "o-1", "cents": 2500}}]}


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


async def reset(client: Client, step_id: str, event_id: int, run_id: str = "") -> None:
    """Reset to the workflow task that was completed by this event, of the newest run or another."""
    await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=step_id, run_id=run_id),
            reason="a test",
            workflow_task_finish_event_id=event_id,
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


async def nothing_is_sent_again(surestep: Surestep, world: World, *step_ids: str) -> None:
    """Of a blind tool, which has no other protection than to know of what ran before."""

    async def settled(one: str) -> bool:
        known = await facts.record(surestep, one)
        return bool(known and (known.closed or known.asked))

    for one in step_ids:
        await eventually(lambda one=one: settled(one))  # type: ignore[misc]
    wrong = [one for one in step_ids if await world.count(f"{one}/*") != 1]
    records = [await facts.record(surestep, one) for one in wrong]
    stories = [facts.told(record) for record in records if record]
    assert not wrong, "not one effect:\n" + "\n\n".join(stories)
