"""What can be known in a cell, said before anything is run.

Two questions, answered from contract, fault and what the tool reads, never from a result:
does the fault break a stated hypothesis (docs/guarantees.md), and is there a way to the truth
without a human? A step that asks although there is one asks avoidably.
"""

from enum import StrEnum

from surestep.http import REFUSED, REFUSED_FOR_NOW
from surestep.testing.faults import Commit, Look, Reply
from surestep.testing.reply import FAILURES
from surestep.testing.service import FAILS_IN_FRONT_OF_KEYS

from .columns import COMPLETES, GIVES_UP, IN_FLIGHT, LAST_LOOK, TIMEOUT, Column
from .rows import Row
from .tools import Style

LAST_SEND = GIVES_UP + 1 + 2 + 4
"""When a tool that takes "in progress" for a failure has used up its four sends."""


class Told(StrEnum):
    """What the tool reads in the answer to the first request; None of these: nothing."""

    DONE = "done"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    AGAIN = "again"


class Way(StrEnum):
    """By what the truth can be known."""

    ANSWER = "the answer"
    KEY = "the key, honoured for a second request"
    HIT = "a look that finds the effect"
    MISS = "a look late enough that does not"
    FENCE = "the fence"


def broken(column: Column, style: Style, row: Row) -> str | None:
    """The hypothesis that the fault breaks, or None."""
    fault, amount = row.chosen.fault, row.chosen.amount
    if fault.commit is Commit.TWICE:
        return "H5: one request is applied twice"
    if fault.commit is Commit.CHANGED:
        return "the service applies what was not asked for"
    if fault.commit is Commit.AT_ONCE and fault.reply is Reply.ERROR and _refuses(amount):
        return "the service refuses, and applies all the same"
    if column.keyed and row.then:
        return "H2: the key is not honoured"
    if column.promised and row.lands(column.works) > IN_FLIGHT:
        return "H3: a request commits later than Δ"
    # The first look is within the lag of a service that has one.
    beyond = column.promised and (row.look_lasting or not column.lag)
    if beyond and row.applies and _reads_a_miss(style, row):
        return "H4: a look later than λ does not show the effect"
    return None


def way(column: Column, style: Style, row: Row) -> Way | None:
    """How the truth can be known without a human; None: it cannot. The hypotheses hold."""
    match told(column, style, row):
        case Told.REFUSED | Told.AGAIN:
            return Way.ANSWER
        case Told.DONE:
            return Way.ANSWER
        case Told.ACCEPTED:
            return _of_accepted(column, style, row)
    if _key_tells(column, style, row):
        return Way.KEY
    if column.service.fences:
        return Way.FENCE
    if not column.looks:
        return None
    if row.applies:
        # Without Δ nobody knows how long to wait, and patience is all there is.
        in_time = column.promised or row.lands(column.works) + column.lag <= LAST_LOOK
        return Way.HIT if in_time and _sees(row) else None
    misses = _sees(row) or _reads_a_miss(style, row)
    return Way.MISS if column.promised and misses else None


def told(column: Column, style: Style, row: Row) -> Told | None:
    """What the tool reads in the answer; a naive one reads no refusal, and only a usual 202."""
    fault, amount = row.chosen.fault, row.chosen.amount
    queued = bool(column.works) or fault.commit in (Commit.QUEUED, Commit.QUEUED_IN_VAIN)
    match fault.reply:
        case Reply.ANSWER | Reply.SLOW | Reply.DRIP if amount >= TIMEOUT and not _instant(row):
            return None
        case Reply.ANSWER | Reply.SLOW | Reply.DRIP | Reply.HUGE:
            if not queued:
                return Told.DONE
            return Told.ACCEPTED if column.works or style is Style.DECLARED else None
        case Reply.EMPTY:
            return Told.ACCEPTED if column.works and style is Style.DECLARED else None
        case Reply.ERROR | Reply.PROBLEM if style is Style.DECLARED:
            if amount in REFUSED_FOR_NOW:
                return Told.AGAIN
            return Told.REFUSED if amount in REFUSED else None
        case Reply.RATE_LIMITED if style is Style.DECLARED:
            return Told.AGAIN
        case _:
            return None


def _of_accepted(column: Column, style: Style, row: Row) -> Way | None:
    """An acceptance is never repeated and never disproved by a miss; only a word ends it."""
    if not column.looks:
        return None
    if row.applies:
        return Way.HIT if row.lands(column.works) + column.lag <= COMPLETES else None
    return Way.HIT if style is Style.DECLARED else None  # a naive look reads no "failed"


def _key_tells(column: Column, style: Style, row: Row) -> bool:
    """Whether a second request under the key is answered with the truth."""
    fault, amount = row.chosen.fault, row.chosen.amount
    if not column.keyed or row.lasting:
        return False
    if fault.commit in (Commit.QUEUED, Commit.QUEUED_IN_VAIN):
        return False  # the first answer, 202, is replayed
    if fault.commit in (Commit.IN_PROGRESS, Commit.BEFORE_ANSWER) and style is Style.NAIVE:
        return row.lands(column.works) <= LAST_SEND
    stored = fault.reply in FAILURES and amount not in FAILS_IN_FRONT_OF_KEYS
    return not (column.service.stores_failures and stored)


def _sees(row: Row) -> bool:
    """Whether a look sees the truth sooner or later."""
    look = row.chosen_look
    return look is None or not row.look_lasting or look.fault.look is Look.LOOKALIKE


def _reads_a_miss(style: Style, row: Row) -> bool:
    """Whether the look's fault says "not there" to the tool."""
    look = row.chosen_look
    if look is None:
        return False
    empty = look.fault.look is Look.EMPTY_JSON or look.text == "error:404"
    return look.fault.look is Look.MISS or (empty and style is Style.NAIVE)


def _refuses(status: float) -> bool:
    return status in REFUSED or status in REFUSED_FOR_NOW


def _instant(row: Row) -> bool:
    """Whether the answer comes at once although the fault has a time: that of an operation."""
    return row.chosen.fault.commit in (Commit.QUEUED, Commit.QUEUED_IN_VAIN)
