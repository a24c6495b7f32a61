"""A record: everything known about one action, as the fold of its evidence."""

from datetime import datetime
from typing import Any, Self, cast

from surestep.evidence import Evidence
from surestep.facts import Facts, Line
from surestep.fold import fold


class Record(Facts):
    """Immutable. `record.with_evidence(e)` is the only way on; `next_move(record, now)` decides."""

    def with_evidence(self, evidence: Evidence) -> Self:
        """The record that knows this as well. Pure."""
        return cast(Self, fold(self, evidence))


def plan(*, action_id: str, at: datetime, **known: Any) -> Record:
    """The record of an action before anything was sent (R1); `known` are fields of Record."""
    text = f"planned; the key is {action_id}"
    return Record(action_id=action_id, planned_at=at, log=(Line(at=at, text=text),), **known)
