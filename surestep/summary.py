"""One line about a step, from its search attributes alone."""

from datetime import datetime

from temporalio.common import TypedSearchAttributes

from surestep import visibility
from surestep.value import Value


class StepSummary(Value):
    """One line of a list of steps.

    watch_id    it is the watch of an ended step, by this id
    task_queue  where its workers are
    """

    step_id: str
    state: str
    tools: tuple[str, ...]
    run: str
    started: datetime
    unknown_since: datetime | None
    needs_human: bool
    anomalies: tuple[str, ...] = ()
    watch_id: str | None = None
    task_queue: str = ""


def summarise(step_id: str, started: datetime, attributes: TypedSearchAttributes) -> StepSummary:
    """The line of one step; `unsettled` where no search attributes were written."""
    known = {pair.key.name: pair.value for pair in attributes}
    return StepSummary(
        step_id=step_id,
        state=known.get(visibility.STATE, "unsettled"),
        tools=tuple(known.get(visibility.TOOL, ())),
        run=known.get(visibility.RUN, ""),
        started=started,
        unknown_since=known.get(visibility.UNKNOWN_SINCE),
        needs_human=known.get(visibility.NEEDS_HUMAN, False),
        anomalies=tuple(known.get(visibility.ANOMALY, ())),
    )
