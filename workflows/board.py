"""What operators see of a step without opening it: search attributes and current details."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from temporalio import workflow
from temporalio.common import SearchAttributeKey, SearchAttributeUpdate

from surestep import visibility
from surestep.details import details
from surestep.outcome import worst_state
from surestep.record import Record

_STATE = SearchAttributeKey.for_keyword(visibility.STATE)
_TOOL = SearchAttributeKey.for_keyword_list(visibility.TOOL)
_NEEDS_HUMAN = SearchAttributeKey.for_bool(visibility.NEEDS_HUMAN)
_UNKNOWN_SINCE = SearchAttributeKey.for_datetime(visibility.UNKNOWN_SINCE)
_RUN = SearchAttributeKey.for_keyword(visibility.RUN)
_ANOMALY = SearchAttributeKey.for_keyword_list(visibility.ANOMALY)

ATTRIBUTE_LIMIT = 1800  # bytes, with room for how they are written
UNKNOWN = object()
ATTRIBUTES = [key.name for key in (_STATE, _TOOL, _NEEDS_HUMAN, _UNKNOWN_SINCE, _RUN, _ANOMALY)]


class Board:
    """Shows the records of one step; writes to the history only what has changed."""

    def __init__(self, *, visible: bool, run: str, renewed: bool = False) -> None:
        """`renewed`: the run before this one has written attributes, of which nothing is known.

        So has another step, where a person started this one in its likeness.
        """
        self.visible = visible
        self._run = run
        unknown = renewed or len(workflow.info().typed_search_attributes) > 0
        self._shown: dict[str, Any] = dict.fromkeys(ATTRIBUTES, UNKNOWN) if unknown else {}

    def show(self, records: Sequence[Record], notes: Sequence[str], now: datetime) -> None:
        """Bring list and details up to date. Without registered attributes, only the details."""
        step_id = workflow.info().workflow_id
        workflow.set_current_details(details(step_id, list(records), list(notes), now))
        if not self.visible:
            return
        asked = [one.asked for one in records if one.asked and one.closed is None]
        anomalies = sorted({anomaly.kind.value for one in records for anomaly in one.anomalies})
        self._upsert(
            {
                _STATE: worst_state(list(records)).value,
                _TOOL: _within_limit(sorted({one.tool for one in records})),
                _NEEDS_HUMAN: bool(asked or anomalies),
                _UNKNOWN_SINCE: min(asked, default=None),
                _RUN: _cut(self._run) or None,
                _ANOMALY: anomalies or None,
            }
        )

    def _upsert(
        self, wanted: dict[SearchAttributeKey[Any], str | list[str] | bool | datetime | None]
    ) -> None:
        updates: list[SearchAttributeUpdate[Any]] = []
        for key, value in wanted.items():
            if self._shown.get(key.name) != value:
                updates.append(key.value_unset() if value is None else key.value_set(value))
                self._shown[key.name] = value
        if updates:
            workflow.upsert_search_attributes(updates)


def _cut(text: str) -> str:
    """As much as fits: the server terminates a workflow whose attribute is over 2048 bytes of JSON,
    in which one character can be twelve."""
    while len(json.dumps(text)) > ATTRIBUTE_LIMIT:
        text = text[:-1]
    return text


def _within_limit(names: list[str]) -> list[str]:
    """As many names as fit; they are ASCII."""
    kept, room = [], ATTRIBUTE_LIMIT
    for name in names:
        room -= len(name) + 4
        if room < 0:
            break
        kept.append(name)
    return kept
