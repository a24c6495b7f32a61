"""A service in memory, and its clock: it lives in the simulated time of whoever calls it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any

from pydantic import BaseModel
from temporalio import activity

from surestep import (
    Accepted,
    Call,
    Contract,
    Effect,
    NotSent,
    Receipt,
    Tool,
    Verification,
    confirmed,
    not_found,
    pending,
    rejected,
    unknown,
)

AT_ONCE = timedelta(0)


class Reply(Enum):
    ANSWER = auto()
    LOST = auto()  # an exception that no list knows
    ACCEPTED = auto()  # 202
    NO_CONNECTION = auto()  # definite: no byte left


class End(Enum):
    """How an accepted operation ends."""

    SUCCEEDED = auto()
    FAILED = auto()
    PURGED = auto()  # the service forgets the operation, and nothing was made


@dataclass(frozen=True)
class Fate:
    """What becomes of one request: when it commits (None: never), and what the caller sees."""

    reply: Reply
    commits_after: timedelta | None = None


ANSWERED = Fate(Reply.ANSWER, AT_ONCE)
REPLY_LOST = Fate(Reply.LOST, AT_ONCE)
REQUEST_LOST = Fate(Reply.LOST)
UNREACHABLE = Fate(Reply.NO_CONNECTION)
TAKEN = Fate(Reply.ACCEPTED)


def late(after: timedelta) -> Fate:
    """The caller sees an error, and the effect lands `after` it."""
    return Fate(Reply.LOST, after)


@dataclass(frozen=True)
class Made:
    """One effect."""

    id: str
    key: str
    at: datetime


@dataclass
class Service:
    """The first request meets the first fate, and so on; the last one is for all that follow.

    remembers  how long a key is honoured; None: keys are ignored
    ends, ends_after  of an accepted operation
    """

    fates: Sequence[Fate]
    remembers: timedelta | None = None
    ends: End = End.SUCCEEDED
    ends_after: timedelta = timedelta(days=1)
    lookup_works: bool = True
    requests: list[tuple[str, datetime]] = field(default_factory=list)
    looks: list[datetime] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    taken_at: datetime | None = None

    @property
    def sent_at(self) -> list[datetime]:
        return [at for _, at in self.requests]

    def send(self, key: str) -> Receipt | Accepted:
        now = _now()
        fate = self.fates[min(len(self.requests), len(self.fates) - 1)]
        self.requests.append((key, now))
        if fate.reply is Reply.NO_CONNECTION:
            raise NotSent("connection refused")
        if fate.reply is Reply.ACCEPTED:
            self.taken_at = now
            return Accepted(receipt=Receipt(id="op-1"))
        if fate.commits_after is not None and not self._knows(key, now):
            self.made.append(Made(f"e-{len(self.made) + 1}", key, now + fate.commits_after))
        if fate.reply is Reply.LOST:
            raise ConnectionResetError
        return Receipt(id=self.made[-1].id)

    def lands(self, key: str, at: datetime) -> None:
        """An effect of an earlier request, from out of nowhere."""
        self.made.append(Made(f"e-{len(self.made) + 1}", key, at))

    def look(self, key: str) -> Verification:
        now = _now()
        self.looks.append(now)
        if not self.lookup_works:
            return unknown("the lookup is down")
        if self.taken_at is not None:
            return self._operation(key, now)
        seen = [one for one in self.made if one.key == key and one.at <= now]
        return confirmed(matches=[Receipt(id=one.id) for one in seen]) if seen else not_found()

    def _operation(self, key: str, now: datetime) -> Verification:
        assert self.taken_at
        end = self.taken_at + self.ends_after
        if now < end:
            return pending("the operation runs")
        match self.ends:
            case End.FAILED:
                return rejected("the operation failed: card declined")
            case End.PURGED:
                return not_found()
        if not self.made:
            self.made.append(Made("e-1", key, end))
        return confirmed(Receipt(id="e-1"))

    def _knows(self, key: str, now: datetime) -> bool:
        first = min((at for sent, at in self.requests if sent == key), default=now)
        return self.remembers is not None and any(
            one.key == key and now < first + self.remembers for one in self.made
        )


class Charge(BaseModel):
    order: str


def tool_for(
    service: Service, *, name: str = "charge", looks: bool = True, **promised: Any
) -> Tool:
    """A tool with what its contract promises."""
    promised.setdefault("timeout", timedelta(seconds=3))
    contract = Contract(effect=Effect.IRREVERSIBLE, look_first=False, **promised)
    tool = Tool(name, Charge, contract, recognise="order")

    @tool.execute
    async def _(args: Charge, call: Call) -> Receipt | Accepted:
        return service.send(call.action_id)

    if looks:

        @tool.verify
        async def _(args: Charge, call: Call) -> Verification:
            return service.look(call.action_id)

    return tool


def _now() -> datetime:
    """Temporal stamps what it hands out with the time of the workflow, skipped or not."""
    return activity.info().started_time
