"""How a write is committed: honestly, late, twice, never; the interpreter of `Commit`."""

import json
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pydantic import JsonValue

from surestep.testing.clock import Clock
from surestep.testing.faults import Commit
from surestep.testing.keys import KeyMemory
from surestep.testing.ledger import Fenced, Ledger, new_effect_id
from surestep.testing.service import FAILS_IN_FRONT_OF_KEYS, Service
from surestep.testing.wire import Answer

COMMITS_OF_A_VOID: Final = frozenset(
    {
        Commit.AT_ONCE,
        Commit.NEVER,
        Commit.ON_ARRIVAL,
        Commit.IN_PROGRESS,
        Commit.BEFORE_ANSWER,
    }
)
"""Undoing is naturally idempotent: it has no key to ignore, no content to change, no operation."""

UNANSWERED: Final = Answer.problem(503, "unanswered", "nothing was applied by this request")
"""Stands where no service made an answer; a reply that shows it is never paired with one."""


class Spawn(Protocol):
    """Starts work that outlives the request."""

    def __call__(self, work: Coroutine[Any, Any, Any], /) -> None: ...


class Write(ABC):
    """One write that reached a service."""

    @abstractmethod
    async def commit(self, how: Commit, seconds: float, spawn: Spawn) -> Answer:
        """Does what `how` says and gives the service's own answer, whoever will see it."""


@dataclass(frozen=True)
class Creation(Write):
    """A POST of an effect; `body` is valid JSON."""

    ledger: Ledger
    clock: Clock
    keys: KeyMemory
    service: Service
    key: str | None
    body: bytes

    async def commit(self, how: Commit, seconds: float, spawn: Spawn) -> Answer:
        match how:
            case Commit.NEVER:
                return UNANSWERED
            case Commit.ON_ARRIVAL:
                spawn(self._on_arrival(seconds, spawn))
                return UNANSWERED
            case Commit.IN_PROGRESS:
                spawn(self._after(seconds, spawn))
                return UNANSWERED
            case Commit.IGNORING_KEY:
                return self._apply(spawn, self.body, since=None)
            case Commit.BEFORE_ANSWER:
                return await self._after(seconds, spawn)
            case _:
                return self._on_meeting_its_key(how, seconds, spawn)

    def _on_meeting_its_key(self, how: Commit, seconds: float, spawn: Spawn) -> Answer:
        since = self.clock.now()
        early = self.keys.meet(self.service, self.key, self.body)
        if early is not None:
            return early
        match how:
            case Commit.QUEUED:
                return self._accept(spawn, self.body, seconds, since=since)
            case Commit.QUEUED_IN_VAIN:
                return self._accept(spawn, self.body, seconds, since=since, succeeds=False)
            case Commit.TWICE:
                self._apply(spawn, self.body, since=None)
                return self._apply(spawn, self.body, since=since)
            case Commit.CHANGED:
                return self._apply(spawn, with_another_amount(self.body), since=since)
            case _:
                return self._apply(spawn, self.body, since=since)

    @property
    def first_use(self) -> bool:
        """Whether the key, or its absence, lets this write through to the service."""
        return self.keys.meet(self.service, self.key, self.body) is None

    def store_failure(self, failure: Answer) -> None:
        """Keeps a failure under the key where the service is of that kind."""
        if self.service.stores_failures and failure.status not in FAILS_IN_FRONT_OF_KEYS:
            self.keys.remember(self.service, self.key, self.body, failure, self.clock.now())

    async def _on_arrival(self, seconds: float, spawn: Spawn) -> None:
        await self.clock.sleep(seconds)
        await self.commit(Commit.AT_ONCE, 0, spawn)

    async def _after(self, seconds: float, spawn: Spawn) -> Answer:
        since = self.clock.now()
        with self.keys.claimed(self.service, self.key, self.body) as early:
            if early is not None:
                return early
            await self.clock.sleep(seconds)
            return self._apply(spawn, self.body, since=since)

    def _apply(self, spawn: Spawn, body: bytes, *, since: float | None) -> Answer:
        """What the service does with a write it takes; `since` None leaves the key unremembered."""
        if self.service.accepts_for is not None:
            seconds = self.service.accepts_for.total_seconds()
            return self._accept(spawn, body, seconds, since=since)
        try:
            with self.ledger.atomic():
                effect = self.ledger.commit(self.service.name, self.key, body, new_effect_id())
                place = f"/{self.service.name}/effects/{effect.id}"
                answer = Answer.json(201, effect.shown(), ("Location", place))
                if since is not None:
                    self.keys.remember(self.service, self.key, self.body, answer, since)
        except Fenced:
            return Answer.problem(409, "fenced", "this key was fenced; nothing was applied")
        return answer

    def _accept(
        self,
        spawn: Spawn,
        body: bytes,
        seconds: float,
        *,
        since: float | None,
        succeeds: bool = True,
    ) -> Answer:
        with self.ledger.atomic():
            operation, effect_id = self.ledger.open_operation(self.service.name, self.key, body)
            place = f"/{self.service.name}/operations/{operation}"
            value: dict[str, JsonValue] = {"operation": operation, "status": "pending"}
            answer = Answer.json(202, value, ("Location", place))
            if since is not None:
                self.keys.remember(self.service, self.key, self.body, answer, since)
        spawn(self._complete(operation, effect_id, body, seconds, succeeds))
        return answer

    async def _complete(
        self, operation: str, effect_id: str, body: bytes, seconds: float, succeeds: bool
    ) -> None:
        await self.clock.sleep(seconds)
        if succeeds:
            with suppress(Fenced), self.ledger.atomic():
                self.ledger.commit(self.service.name, self.key, body, effect_id)
                self.ledger.end_operation(operation, "succeeded")
                return
        self.ledger.end_operation(operation, "failed")


@dataclass(frozen=True)
class Void(Write):
    """A DELETE of an effect; repeating it changes nothing and is answered alike."""

    ledger: Ledger
    clock: Clock
    service: Service
    key: str | None
    effect_id: str

    async def commit(self, how: Commit, seconds: float, spawn: Spawn) -> Answer:
        match how:
            case Commit.NEVER:
                return UNANSWERED
            case Commit.ON_ARRIVAL | Commit.IN_PROGRESS:
                spawn(self._later(seconds))
                return UNANSWERED
            case Commit.BEFORE_ANSWER:
                await self.clock.sleep(seconds)
                return self._apply()
            case _:
                return self._apply()

    async def _later(self, seconds: float) -> None:
        await self.clock.sleep(seconds)
        self._apply()

    def _apply(self) -> Answer:
        effect = self.ledger.void(self.service.name, self.effect_id, self.key)
        if effect is None:
            return Answer.problem(404, "not_found", f"there is no effect {self.effect_id}")
        return Answer.json(200, effect.shown())


def with_another_amount(body: bytes) -> bytes:
    """The same JSON with its first number one higher; without a number, with `"changed": true`."""
    value = json.loads(body)
    if not isinstance(value, dict):
        return json.dumps({"changed": True, "was": value}).encode()
    for name, field in value.items():
        if isinstance(field, int | float) and not isinstance(field, bool):
            return json.dumps({**value, name: field + 1}).encode()
    return json.dumps({**value, "changed": True}).encode()
