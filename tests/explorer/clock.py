"""Virtual time: whole seconds since the action was planned."""

from datetime import UTC, datetime, timedelta
from functools import cache

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
NEVER = 10**9


@cache
def moment(second: int) -> datetime:
    return START + timedelta(seconds=second)


@cache
def second(moment: datetime) -> int:
    """Rounded up, as a timer may fire late and never early."""
    return -((START - moment) // timedelta(seconds=1))


def whole(span: timedelta) -> int:
    seconds = int(span.total_seconds())
    assert timedelta(seconds=seconds) == span, "contracts in the model count whole seconds"
    return seconds
