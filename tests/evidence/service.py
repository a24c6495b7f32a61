"""The outside world in virtual time: one intended effect, its service, and its ledger.

Times are seconds since the first call. The service knows nothing of who calls; a seed decides the
fate of each request, by its number, so that all arms meet the same fates.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import heappop, heappush
from typing import Final

ANSWERS_IN: Final = 0.2  # seconds that a call takes which is answered
LOOKS_IN: Final = 0.1
CLIENT_LIMIT: Final = 30.0  # after so long every client gives up waiting for an answer


class Reply(StrEnum):
    """What the caller sees."""

    ANSWER = "answer"  # a success
    ACCEPTED = "accepted"  # taken for later
    LOST = "lost"  # nothing, until the client's limit
    ERROR = "error"  # a 500, or "cannot see it yet": proves nothing
    AGAIN = "again"  # refused for now, nothing applied: 409 of a stale read, 429, 503
    REFUSED = "refused"  # refused for good, nothing applied by this request
    UNREACHABLE = "unreachable"  # no connection, no byte left


@dataclass(frozen=True)
class Fate:
    """What becomes of one request.

    commits  seconds from sending to each time that it is applied; several: it was redelivered
    lag      seconds from a commit until every lookup shows it
    part     only the first part of the effect is applied
    works    seconds before the commit in which a lookup shows it as under way
    pause    the pause that the service asks for
    """

    reply: Reply = Reply.ANSWER
    commits: tuple[float, ...] = (0.0,)
    lag: float = 0.0
    part: bool = False
    works: float = 0.0
    pause: float | None = None


@dataclass
class Row:
    """One row of the ledger."""

    id: str
    key: str
    at: float
    shown: float
    whole: bool


@dataclass(frozen=True)
class Answer:
    reply: Reply
    at: float
    id: str | None = None
    pause: float | None = None


class Sight(StrEnum):
    WHOLE = "whole"
    PART = "part"
    PENDING = "pending"
    NOTHING = "nothing"
    BLIND = "blind"  # no lookup, or it failed


@dataclass
class Service:
    """`fates(n)` is the fate of the request number n that reaches it, from 0.

    looks      it can be looked at
    recent     a second list shows rows of the last so many seconds at once; older ones leave it
    remembers  seconds for which a key is honoured after its first commit; None: keys are ignored
    refuses    a key that is older is refused; otherwise it is taken for a new one
    down       from when to when nothing can be reached
    falls      it goes down with the first request that reaches it, which it takes
    blind_until  when its lookup begins to answer
    quick      calls take no time: for comparison with the real workflow (see `twin`)
    """

    fates: Callable[[int], Fate]
    looks: bool = True
    recent: float = 0.0
    remembers: float | None = None
    refuses: bool = False
    down: tuple[float, float] = (0.0, 0.0)
    falls: bool = False
    blind_until: float = 0.0
    quick: bool = False
    rows: list[Row] = field(default_factory=list)
    requests: list[float] = field(default_factory=list)
    looked: list[float] = field(default_factory=list)
    reached: int = 0
    accepted: bool = False
    _pending: list[tuple[float, int, float, str, Fate]] = field(default_factory=list)
    _first: dict[str, float] = field(default_factory=dict)

    def send(self, key: str, at: float) -> Answer:
        self.requests.append(at)
        answered = at if self.quick else at + ANSWERS_IN
        if self.is_down(at):
            return Answer(Reply.UNREACHABLE, answered)
        self.advance(at)
        fate = self.fates(self.reached)
        self.reached += 1
        self.accepted |= fate.reply is Reply.ACCEPTED
        if fate.reply is Reply.AGAIN:
            return Answer(fate.reply, answered, pause=fate.pause)
        if self.refuses and key in self._first and not self._honours(key, at):
            return Answer(Reply.REFUSED, answered)
        for delay in fate.commits:
            begins = at + delay - fate.works
            heappush(self._pending, (at + delay, self.reached, begins, key, fate))
        self.advance(at)
        if fate.reply is Reply.LOST:
            return Answer(Reply.LOST, at if self.quick else at + CLIENT_LIMIT)
        return Answer(fate.reply, answered, self.rows[-1].id if self.rows else None)

    def look(self, at: float) -> Sight:
        """What a lookup that begins at `at` shows of the effect; see `seen` for the rows."""
        self.looked.append(at)
        return self.sight(at)

    def sight(self, at: float) -> Sight:
        if not self.can_see(at):
            return Sight.BLIND
        self.advance(at)
        seen = self.seen(at)
        if any(row.whole for row in seen):
            return Sight.WHOLE
        if seen:
            return Sight.PART
        under_way = any(begins <= at and fate.works for _, _, begins, _, fate in self._pending)
        return Sight.PENDING if under_way else Sight.NOTHING

    def seen(self, at: float) -> list[Row]:
        return [row for row in self.rows if row.shown <= at or at < row.at + self.recent]

    def can_see(self, at: float) -> bool:
        return self.looks and at >= self.blind_until and not self.is_down(at)

    def is_down(self, at: float) -> bool:
        begun = self.reached > 0 if self.falls else self.down[0] <= at
        return begun and at < self.down[1]

    def advance(self, until: float) -> None:
        """Apply what lands by then, in its order."""
        while self._pending and self._pending[0][0] <= until:
            at, _, _, key, fate = heappop(self._pending)
            if self._honours(key, at) or (self.refuses and key in self._first):
                continue
            self._first.setdefault(key, at)
            if self.remembers is not None and at >= self._first[key] + self.remembers:
                self._first[key] = at
            row = Row(f"e-{len(self.rows) + 1}", key, at, at + fate.lag, not fate.part)
            self.rows.append(row)

    def lands_at(self) -> float | None:
        """When the last request under way lands; None: nothing is under way."""
        return max(self._pending)[0] if self._pending else None

    def repair(self) -> None:
        """A person completes what is there in part."""
        for row in self.rows:
            row.whole = True

    def _honours(self, key: str, at: float) -> bool:
        first = self._first.get(key)
        return self.remembers is not None and first is not None and at < first + self.remembers
