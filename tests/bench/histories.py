"""What one step of each kind leaves in its history: the events, and their bytes."""

from typing import Any

from temporalio.api.enums.v1 import EventType

from .rows import ROWS
from .stage import Stage

LOOKS_FOR = ("floor", "keyed", "look-up-able, looked at first", "parallel step of ten",
             "settle after a lost reply", "decision by update")  # fmt: skip


async def told(made: Stage) -> list[dict[str, Any]]:
    """One entry for each row that has a history: its first step of the warm-up."""
    found = []
    for number, row in enumerate(ROWS):
        if row.name in LOOKS_FOR:
            found.append({"row": row.name, **await history(made, f"warm/{number}/0")})
    return found


async def history(made: Stage, step_id: str) -> dict[str, Any]:
    fetched = await made.client.get_workflow_handle(step_id).fetch_history()
    events = [
        {"event": EventType.Name(one.event_type).removeprefix("EVENT_TYPE_").lower(),
         "bytes": one.ByteSize(), "of": _of(one)}
        for one in fetched.events
    ]  # fmt: skip
    tasks = sum(one["event"] == "workflow_task_completed" for one in events)
    size = sum(one["bytes"] for one in events)
    return {"events": events, "workflow_tasks": tasks, "count": len(events), "bytes": size}


def _of(event: Any) -> str:
    """The activity that an event is about, or the marker, where it says so."""
    scheduled = event.activity_task_scheduled_event_attributes.activity_type.name
    marker = event.marker_recorded_event_attributes.marker_name
    return scheduled or marker
