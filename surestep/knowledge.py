"""What a record learns, in words and in numbers: the parts that every kind of evidence shares."""

import math
from datetime import datetime, timedelta
from typing import Any

from surestep.evidence import Receipt
from surestep.facts import Doubt, Facts, Line, Looks

LOG_LIMIT = 40  # lines; the first and the latest are kept
LINE_LIMIT = 200  # characters
LONGEST_PAUSE = 86_400.0  # seconds

NOBODY_ASKED: dict[str, Any] = {"asked": None, "overdue": None, "patient_until": None}

ABSENT: dict[str, Any] = {"doubt": None, "absent": True, "setbacks": 0, **NOBODY_ASKED}
"""The changes once it is proven that nothing happened and nothing will (R6)."""


def know(
    record: Facts,
    at: datetime,
    text: str,
    *,
    quiet: bool = False,
    news: bool = True,
    **changes: Any,
) -> Facts:
    """Write one line, and make the changes.

    The version grows, unless the line is no `news`, or is `quiet` and was written before: what a
    human has seen is not made stale by a repetition.
    """
    log, text = record.log, text[:LINE_LIMIT]
    news = news and not (quiet and any(line.text == text for line in log))
    if log and log[-1].text == text:
        log = (*log[:-1], log[-1].model_copy(update={"count": log[-1].count + 1, "until": at}))
    else:
        log = (*log, Line(at=at, text=text))
    if len(log) > LOG_LIMIT:
        log = (*log[: LOG_LIMIT // 3], *log[LOG_LIMIT // 3 + 1 :])
    version = record.version + 1 if news else record.version
    return record.model_copy(update={"version": version, **changes, "log": log})


def named(receipt: Receipt | None) -> str:
    return f" as {receipt.id}" if receipt and receipt.id else ""


def doubt_of(record: Facts, since: datetime | None, latest: datetime, at: datetime) -> Doubt:
    old = record.doubt
    if old is None:
        return Doubt(since=since, latest=latest, at=at, attempts=1)
    first = min(old.since, since) if old.since and since else None
    return Doubt(since=first, latest=max(old.latest, latest), at=at, attempts=old.attempts + 1)


def in_doubt(
    record: Facts, since: datetime | None, latest: datetime, at: datetime
) -> dict[str, Any]:
    """The changes that one more attempt in doubt makes (R5); looking starts afresh."""
    return {
        "doubt": doubt_of(record, since, latest, at),
        "spent": record.spent + 1,
        "absent": False,
        "looks": Looks(total=record.looks.total),
        "setbacks": 0,
        **NOBODY_ASKED,
    }


def pause(retry_after: float | None) -> timedelta:
    """The pause that a service asks for, made sane: none for nonsense, a day at the most."""
    if retry_after is None or math.isnan(retry_after):
        return timedelta(0)
    return timedelta(seconds=min(max(retry_after, 0.0), LONGEST_PAUSE))
