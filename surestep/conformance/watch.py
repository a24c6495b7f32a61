"""Watching for an effect after a send: when it is seen first, and whether it is missed again."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from surestep.conformance.sending import Sent, found
from surestep.conformance.subject import Seen, Subject, seconds, until
from surestep.evidence import Finding, Verification, unknown

FIRST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 1.0
GROWTH: Final = 1.3
NOT_LOOKED: Final = unknown("not looked")
LOOKS_AGAIN: Final = 4
"""Looks after the first that saw it: a replica that lags behind the others misses it again."""


@dataclass(frozen=True)
class Watch:
    """What the looks after one send saw. Times are seconds after the send had ended.

    last     the last look before looks_again
    visible  when the first look began that saw anything; None: none did
    settled  when the first look began that saw it confirmed or rejected
    missed   when the last look before that began that missed it
    pending  when the last look began that saw it pending
    again    most misses in a row after it was seen
    looks    how many there were
    """

    sent: Sent
    last: Verification = NOT_LOOKED
    visible: float | None = None
    settled: float | None = None
    missed: float | None = None
    pending: float | None = None
    again: int = 0
    looks: int = 0

    @property
    def confirmed(self) -> bool:
        return self.last.finding is Finding.CONFIRMED and self.last.trace is None

    @property
    def failed(self) -> bool:
        """Every look failed, so nothing was learned."""
        return self.visible is None and self.missed is None


async def watch(
    subject: Subject,
    sent: Sent,
    patience: timedelta,
    arguments: Mapping[str, Any] | None = None,
) -> Watch:
    """Looks until the effect is settled, for `patience` beyond the promised lag.

    One look begins at the very end of the promised lag: on it hangs the verdict.
    """
    promised = seconds(subject.contract.visibility_lag)
    end = promised + patience.total_seconds()
    seen = Watch(sent)
    pause = FIRST_PAUSE
    while True:
        seen = _with(seen, await subject.look(sent.key, sent.accepted, arguments))
        at = time.monotonic() - sent.ended
        if seen.settled is not None or at >= end:
            break
        next_look = at + pause
        if at < promised < next_look:
            next_look = promised
        await until(sent.ended + min(next_look, end))
        pause = min(pause * GROWTH, LONGEST_PAUSE)
    if seen.settled is None:
        return seen
    again = await _again(subject, sent, arguments)
    return replace(seen, again=again, looks=seen.looks + LOOKS_AGAIN)


def _with(seen: Watch, look: Seen) -> Watch:
    at = look.began - seen.sent.ended
    verification = look.verification
    changes: dict[str, Any] = {"last": verification, "looks": seen.looks + 1}
    if found(verification):
        if seen.visible is None:
            changes["visible"] = at
        if verification.finding is Finding.PENDING:
            changes["pending"] = at
        else:
            changes["settled"] = at
    elif verification.finding is Finding.NOT_FOUND:
        changes["missed"] = at
    return replace(seen, **changes)


async def _again(subject: Subject, sent: Sent, arguments: Mapping[str, Any] | None) -> int:
    most = row = 0
    for _ in range(LOOKS_AGAIN):
        look = await subject.look(sent.key, sent.accepted, arguments)
        row = row + 1 if look.verification.finding is Finding.NOT_FOUND else 0
        most = max(most, row)
    return most


async def settle(subject: Subject, first: Watch | None, sent: Sent) -> None:
    """Waits until a second effect of a send would be visible: as long as the first one took."""
    measured = first.settled if first and first.settled is not None else 0.0
    promised = subject.contract.visibility_lag
    wait = 3 * measured + 0.2
    if promised is not None:
        wait = min(wait, promised.total_seconds())
    if first and first.sent.accepted:
        wait = 3 * measured + 0.2
    await until(sent.ended + wait)
