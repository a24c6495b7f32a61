"""Pauses that a service asks for between lookups (`Retry-After`)."""

import time
from datetime import timedelta

LIMIT = 10_000
"""Actions remembered. Forgetting one costs a lookup too early, nothing else."""


class Pace:
    """Remembers until when not to ask again, in this process only; a lookup too early does no harm.

    The first pause, that of the accepted request itself, is kept by the workflow.
    """

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def pause(self, action_id: str, pause: timedelta | None) -> None:
        """Replaces the pause of an action; None ends it."""
        self._until.pop(action_id, None)
        if pause:
            self._until[action_id] = time.monotonic() + pause.total_seconds()
        if len(self._until) > LIMIT:
            del self._until[next(iter(self._until))]

    def left(self, action_id: str) -> float:
        """Seconds that are still to be waited."""
        return max(0.0, self._until.get(action_id, 0.0) - time.monotonic())
