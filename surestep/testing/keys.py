"""What a service remembers of the keys it was given."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from surestep.testing.clock import Clock
from surestep.testing.ledger import MEANT, Ledger, digest
from surestep.testing.service import Service
from surestep.testing.wire import Answer

LONG_AGO: Final = -1e12
"""A tick before every lifetime, in seconds."""


class KeyMemory:
    """The idempotency layer of the services that honour keys; the others pass it untouched."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock
        self._in_progress: dict[tuple[str, str], str] = {}

    def meet(self, service: Service, key: str | None, body: bytes) -> Answer | None:
        """The answer that the key alone decides: a replay or a refusal; None: the write may go on.

        400 without key, 422 for other content, 409 `in_progress`, 409 `key_expired`.
        """
        if service.key_lifetime is None:
            return None
        if key is None:
            return Answer.problem(400, "key_missing", "this service wants an Idempotency-Key")
        running = self._in_progress.get((service.name, key))
        if running is not None:
            if running != digest(body):
                return _mismatch()
            return Answer.problem(409, "in_progress", "the first request is still being worked on")
        row = self._ledger.db.execute(
            "SELECT sha256, tick, answer FROM keys WHERE service = ? AND key = ?",
            (service.name, key),
        ).fetchone()
        if row is None:
            return None
        if self._clock.now() - row["tick"] >= service.key_lifetime.total_seconds():
            if service.forgets == "treat_as_new":
                return None
            return Answer.problem(409, "key_expired", "this key is too old to be used again")
        if row["sha256"] != digest(body):
            return _mismatch()
        return _loaded(row["answer"]).with_header("Idempotent-Replayed", "true")

    @contextmanager
    def claimed(self, service: Service, key: str | None, body: bytes) -> Iterator[Answer | None]:
        """`meet`, and the key is in progress within the block where the write may go on."""
        answer = self.meet(service, key, body)
        if answer is not None or service.key_lifetime is None or key is None:
            yield answer
            return
        self._in_progress[service.name, key] = digest(body)
        try:
            yield None
        finally:
            del self._in_progress[service.name, key]

    def remember(
        self, service: Service, key: str | None, body: bytes, answer: Answer, since: float
    ) -> None:
        """Stores the answer; `since` is the tick of the key's first use, when its life began."""
        if service.key_lifetime is not None and key is not None:
            self._ledger.db.execute(
                "INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?, ?)",
                (service.name, key, digest(body), since, _stored(answer)),
            )

    def forget(self, key: str) -> None:
        """Ends the lifetime of a key, or of all with a prefix that ends in `*`, at once."""
        self._ledger.db.execute(
            f"UPDATE keys SET tick = :tick WHERE {MEANT}", {"tick": LONG_AGO, "key": key}
        )


def _mismatch() -> Answer:
    return Answer.problem(422, "key_mismatch", "the key was used with other content")


def _stored(answer: Answer) -> str:
    return json.dumps([answer.status, answer.body.decode(), answer.headers])


def _loaded(stored: str) -> Answer:
    status, body, headers = json.loads(stored)
    return Answer(status, body.encode(), tuple((name, value) for name, value in headers))
