"""Every way in which the world can misbehave, as data: a fault is when it commits and what shows.

`WRITE_FAULTS` and `LOOKUP_FAULTS` are the only lists; the interpreters of `Commit`, `Reply` and
`Look` are in `writes`, `reply` and `lookups`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Final, Generic, TypeVar


class BadFault(ValueError):
    """The fault is not known or its argument is wrong; the message names the nearest right one."""


@dataclass(frozen=True)
class Argument:
    """What follows the colon in `late:3`: its letter in the docs, its bounds, whole or not."""

    letter: str
    low: float
    high: float
    whole: bool = True


SECONDS: Final = Argument("S", 0, 86_400, whole=False)
ERROR_CODE: Final = Argument("CODE", 400, 599)
MOVED: Final = Argument("CODE", 300, 399)
BYTES: Final = Argument("BYTES", 1, 100_000_000)


class Commit(StrEnum):
    """When, and how, a write is committed."""

    AT_ONCE = "at once"
    NEVER = "never"
    ON_ARRIVAL = "after S; until then it has not reached the service"
    IN_PROGRESS = "after S; until then its key is in progress"
    BEFORE_ANSWER = "after S, right before the answer; until then its key is in progress"
    QUEUED = "after S, as an operation"
    QUEUED_IN_VAIN = "never; its operation fails after S"
    TWICE = "twice, at once"
    IGNORING_KEY = "at once, whatever the key"
    CHANGED = "at once, with another amount"


class Reply(StrEnum):
    """What the sender of a write gets to see."""

    ANSWER = "the answer"
    CLOSED = "closed connection"
    RESET = "connection reset (RST)"
    SILENCE = "nothing, ever"
    SLOW = "the answer after S"
    HELD = "the answer, once released"
    DRIP = "the answer, its body byte by byte over S"
    TRUNCATED = "the status and half of the body"
    TRUNCATED_STATUS = "half of the status line"
    ERROR = "CODE with plain text"
    PROBLEM = "CODE with problem+json"
    RATE_LIMITED = "429 with Retry-After: S"
    CORRUPT = "the answer, declared gzip but not compressed"
    HTML = "200 with an HTML page"
    EMPTY = "the status without a body"
    HUGE = "the answer, padded to BYTES"
    REDIRECT = "CODE with a Location"


class Look(StrEnum):
    """What a lookup gets to see."""

    TRUTH = "what the service shows"
    ERROR = "CODE with plain text"
    SILENCE = "nothing, ever"
    RESET = "connection reset (RST)"
    HTML = "200 with an HTML page"
    EMPTY_JSON = "200 with {}"
    MISS = "no effect, whatever exists"
    LOOKALIKE = "also an effect with another key and the same body"


@dataclass(frozen=True)
class WriteFault:
    """One way in which a POST or DELETE of an effect goes wrong."""

    name: str
    commit: Commit
    reply: Reply
    meaning: str
    takes: Argument | None = None


@dataclass(frozen=True)
class LookupFault:
    """One way in which a GET of an effect or operation goes wrong."""

    name: str
    look: Look
    meaning: str
    takes: Argument | None = None


def _write_faults() -> tuple[WriteFault, ...]:
    c, r, fault = Commit, Reply, WriteFault
    return (
        fault("honest", c.AT_ONCE, r.ANSWER, "no fault; keeps a place in a queue of faults"),
        fault("reply_lost", c.AT_ONCE, r.CLOSED, "applied, but the sender is not told"),
        fault("reply_reset", c.AT_ONCE, r.RESET, "applied, but the connection breaks"),
        fault("hang", c.AT_ONCE, r.SILENCE, "applied, and the sender waits for ever"),
        fault("hang_uncommitted", c.NEVER, r.SILENCE, "swallowed, and the sender waits for ever"),
        fault("never_arrives", c.NEVER, r.CLOSED, "lost on the way; looks like reply_lost"),
        fault("reset_before", c.NEVER, r.RESET, "breaks before anything; looks like reply_reset"),
        fault("late", c.ON_ARRIVAL, r.CLOSED, "held up on the way, arrives after all", SECONDS),
        fault("late_hang", c.IN_PROGRESS, r.SILENCE, "works on in silence, applies late", SECONDS),
        fault("slow", c.AT_ONCE, r.SLOW, "applied at the start, told late", SECONDS),
        fault("slow_commit", c.BEFORE_ANSWER, r.ANSWER, "applied at the end, then told", SECONDS),
        fault("error_before", c.NEVER, r.ERROR, "an error, and nothing applied", ERROR_CODE),
        fault("error_after", c.AT_ONCE, r.ERROR, "an error, and yet applied", ERROR_CODE),
        fault("refuse", c.NEVER, r.PROBLEM, "refused by the service, with a reason", ERROR_CODE),
        fault("rate_limited", c.NEVER, r.RATE_LIMITED, "refused: come back later", SECONDS),
        fault("truncated", c.AT_ONCE, r.TRUNCATED, "applied, the answer breaks off"),
        fault("truncated_status", c.AT_ONCE, r.TRUNCATED_STATUS, "applied, no whole status line"),
        fault("corrupt_encoding", c.AT_ONCE, r.CORRUPT, "applied, the answer cannot be decoded"),
        fault("html", c.AT_ONCE, r.HTML, "applied behind a page in front of the service"),
        fault("html_uncommitted", c.NEVER, r.HTML, "a page answers, the service never saw it"),
        fault("empty", c.AT_ONCE, r.EMPTY, "applied, no id to show for it"),
        fault("huge", c.AT_ONCE, r.HUGE, "applied, and the answer is enormous", BYTES),
        fault("redirect", c.AT_ONCE, r.REDIRECT, "applied; 307, 308 ask for it again", MOVED),
        fault("redirect_uncommitted", c.NEVER, r.REDIRECT, "sent away, nothing applied", MOVED),
        fault("accepted", c.QUEUED, r.ANSWER, "202, succeeds later", SECONDS),
        fault("accepted_fails", c.QUEUED_IN_VAIN, r.ANSWER, "202, fails later", SECONDS),
        fault("twice", c.TWICE, r.ANSWER, "redelivered inside; one of the two is told"),
        fault("ignore_key", c.IGNORING_KEY, r.ANSWER, "the key is not honoured this once"),
        fault("other_content", c.CHANGED, r.CLOSED, "applied with another amount, not told"),
        fault("drip", c.AT_ONCE, r.DRIP, "applied, told byte by byte", SECONDS),
        fault("expect_kill", c.AT_ONCE, r.HELD, "applied, told when a test releases it"),
    )  # fmt: skip


def _lookup_faults() -> tuple[LookupFault, ...]:
    fault = LookupFault
    return (
        fault("honest", Look.TRUTH, "no fault; keeps a place in a queue of faults"),
        fault("error", Look.ERROR, "the lookup fails", ERROR_CODE),
        fault("hang", Look.SILENCE, "the lookup never ends"),
        fault("reset", Look.RESET, "the lookup breaks off"),
        fault("html", Look.HTML, "a page in front of the service answers"),
        fault("empty_json", Look.EMPTY_JSON, "an answer that says nothing"),
        fault("miss", Look.MISS, "a replica that has not heard of it"),
        fault("lookalike", Look.LOOKALIKE, "somebody else's effect looks like ours"),
    )


WRITE_FAULTS: Final[Mapping[str, WriteFault]] = {fault.name: fault for fault in _write_faults()}
LOOKUP_FAULTS: Final[Mapping[str, LookupFault]] = {fault.name: fault for fault in _lookup_faults()}

F = TypeVar("F", bound=WriteFault | LookupFault)


@dataclass(frozen=True)
class Chosen(Generic[F]):
    """A fault with its argument: `amount` in seconds, as a status code or in bytes, else 0."""

    fault: F
    amount: float
    text: str


def write_fault(text: str) -> Chosen[WriteFault]:
    """`late:3` → the fault and 3.0. Raises BadFault, naming the nearest known fault."""
    return _chosen(text, WRITE_FAULTS, "write", LOOKUP_FAULTS)


def lookup_fault(text: str) -> Chosen[LookupFault]:
    """`error:500` → the fault and 500. Raises BadFault, naming the nearest known fault."""
    return _chosen(text, LOOKUP_FAULTS, "lookup", WRITE_FAULTS)


def _chosen(
    text: str, known: Mapping[str, F], kind: str, others: Mapping[str, object]
) -> Chosen[F]:
    name, colon, argument = text.partition(":")
    if name not in known:
        nearest = spelled(known[get_close_matches(name, known, n=1, cutoff=0)[0]])
        elsewhere = " (it exists only for the other kind of request)" if name in others else ""
        raise BadFault(f"no {kind} fault is called {name!r}{elsewhere}; the nearest is {nearest!r}")
    return Chosen(known[name], _amount(known[name], argument if colon else None), text)


def _amount(fault: WriteFault | LookupFault, argument: str | None) -> float:
    takes = fault.takes
    if takes is None:
        if argument is not None:
            raise BadFault(f"{fault.name!r} takes no argument, {argument!r} was given")
        return 0
    try:
        amount = float(int(argument or "")) if takes.whole else float(argument or "")
    except ValueError:
        amount = math.nan
    if not takes.low <= amount <= takes.high:
        raise BadFault(
            f"{argument!r} does not fit {spelled(fault)!r}: "
            f"{takes.letter} is a number from {takes.low:g} to {takes.high:g}"
        )
    return amount


def spelled(fault: WriteFault | LookupFault) -> str:
    """How the fault is written: `reply_lost`, `late:S`, `error:CODE`."""
    return fault.name if fault.takes is None else f"{fault.name}:{fault.takes.letter}"


def described() -> str:
    """Both tables as one Markdown text, for the command line and for the docs."""
    lines = ["| write fault | commits | the sender sees | meaning |", "|---|---|---|---|"]
    lines += [
        f"| `{spelled(fault)}` | {fault.commit} | {fault.reply} | {fault.meaning} |"
        for fault in WRITE_FAULTS.values()
    ]
    lines += ["", "| lookup fault | the lookup sees | meaning |", "|---|---|---|"]
    lines += [
        f"| `{spelled(fault)}` | {fault.look} | {fault.meaning} |"
        for fault in LOOKUP_FAULTS.values()
    ]
    return "\n".join(lines)
