"""What operators see of a step without opening it: search attributes and current details."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from temporalio import workflow
from temporalio.common import SearchAttributeKey, SearchAttributeUpdate

from surestep import attributes
from surestep.details import details
from surestep.evidence import State
from surestep.outcome import worst_state
from surestep.protocol import FIRST_RUN
from surestep.record import Record
from surestep.shown import mask_of

UNKNOWN = object()


class Board:
    """Shows the records of one step; writes to the history only what has changed."""

    def __init__(self, *, visible: bool, run: str, renewed: bool = False) -> None:
        """`renewed`: the run before this one has written attributes, of which nothing is known.

        So has another step, where a person started this one in its likeness.
        """
        self.visible = visible
        self._run = run
        self._shown: dict[str, Any] = {}
        given = workflow.info().typed_search_attributes
        first = FIRST_RUN in workflow.info().headers and not renewed
        if first:  # they came with the start, and are as they are
            found = {key.name: given.get(key) for key in attributes.KEYS}
            self._shown = {name: value for name, value in found.items() if value is not None}
        elif renewed or len(given) > 0:
            self._shown = dict.fromkeys((key.name for key in attributes.KEYS), UNKNOWN)
        self._waits_for_news = first and bool(self._shown)

    def show(self, records: Sequence[Record], notes: Sequence[str], now: datetime) -> None:
        """Bring list and details up to date. Without registered attributes, only the details."""
        step_id = workflow.info().workflow_id
        workflow.set_current_details(details(step_id, list(records), list(notes), now))
        if not self.visible:
            return
        asked = [one.asked for one in records if one.asked and one.closed is None]
        anomalies = sorted({anomaly.kind.value for one in records for anomaly in one.anomalies})
        state = worst_state(list(records))
        wanted: dict[SearchAttributeKey[Any], str | list[str] | bool | datetime | None] = {
            attributes.STATE: state.value,
            attributes.TOOL: attributes.tool_names(one.tool for one in records),
            attributes.NEEDS_HUMAN: bool(asked or anomalies),
            attributes.UNKNOWN_SINCE: min(asked, default=None),
            attributes.RUN: attributes.run_name(mask_of(records).text(self._run)) or None,
            attributes.ANOMALY: anomalies or None,
        }
        self._waits_for_news = self._waits_for_news and all(map(_as_it_should, records))
        if self._waits_for_news and state is not State.CONFIRMED:
            del wanted[attributes.STATE]
        self._upsert(wanted)

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


def _as_it_should(record: Record) -> bool:
    """Nothing has happened but a first attempt, or its success: a state that is over at once.

    It is not worth a write of its own: until the first news a started step is `unsettled`.
    """
    untroubled = record.doubt is None and not record.setbacks and record.attempts <= 1
    untouched = not (record.asked or record.stop or record.inherited or record.approval)
    going = record.state in (State.PLANNED, State.SENT, State.CONFIRMED)
    return going and untroubled and untouched and not record.anomalies
