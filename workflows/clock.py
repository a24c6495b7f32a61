"""Time that replays the same way.

Right after a local activity `workflow.now()` is not the same in a replay (it differs by some
milliseconds), and a record that holds it could decide otherwise. Until the next workflow task the
time from before the local activity is used, which errs to the safe side: nothing was sent before.
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
