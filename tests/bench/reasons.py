"""Why each event of a step's history is there, in the words of the page."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

REASONS: Final = {
    "workflow_execution_started": "the step: what is intended, kept before anything is done (R1)",
    "workflow_task_scheduled": "Temporal's own: the workflow has something to decide",
    "workflow_task_started": "Temporal's own: a worker took it",
    "workflow_task_completed": "Temporal's own: what was decided",
    "marker_recorded core_local_activity": "the plan: normalised arguments, their hash and the "
    "contract that holds from now on, recorded before the first send (R1), and which run made it, "
    "so that a reset is recognised",
    "upsert_workflow_search_attributes": "what lists and questions are answered from, without any "
    "worker: state, tool, whether a person is needed",
    "activity_task_scheduled execute": "the one attempt, by one activity without retries (R3)",
    "activity_task_scheduled floor_charge": "the call",
    "activity_task_started": "Temporal's own: a worker took the attempt",
    "activity_task_completed": "the evidence: the receipt, or what else became of it",
    "workflow_properties_modified": "what the step's page shows, kept with it",
    "workflow_execution_completed": "the outcome, which whoever attaches later is given",
}


def told(events: Sequence[Mapping[str, Any]]) -> list[tuple[str, int, int, str]]:
    """Events in order: name, how many in a row, their bytes, why. Raises KeyError for a new one."""
    found = []
    for name, group in groupby(events, key=_name):
        together = list(group)
        size = sum(one["bytes"] for one in together)
        found.append((name, len(together), size, REASONS[name]))
    return found


def _name(event: Mapping[str, Any]) -> str:
    return f"{event['event']} {event['of']}".strip()
