"""Time that replays the same way.

Around a local activity `workflow.now()` is not the same in a replay: it differs by milliseconds, or
by more where the activity was slow. A record that holds it could decide otherwise. Until the next
workflow task the time that `plan` recorded is used. It is a worker's, the only one that is; SLACK
covers what that clock is off.
"""

from datetime import datetime

from temporalio import workflow


class Clock:
    """`now()` for everything that goes into a record."""

    def __init__(self) -> None:
        self._held: tuple[datetime, int] | None = None

    def hold(self, time: datetime) -> None:
        """Keep `time` until the next workflow task."""
        self._held = (time, workflow.info().get_current_history_length())

    def now(self) -> datetime:
        if self._held and self._held[1] == workflow.info().get_current_history_length():
            return self._held[0]
        return workflow.now()
