"""The ledger: what was really applied and really asked, in SQLite, committed before any answer.

Ticks are seconds of the world's clock and decide about lags and lifetimes; times with a zone are
only shown. What was in flight when the process died never commits.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, JsonValue

from surestep.testing.clock import Clock

FILE: Final = "world.sqlite3"

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS effects (
    seq INTEGER PRIMARY KEY, service TEXT NOT NULL, id TEXT NOT NULL UNIQUE, key TEXT,
    body TEXT NOT NULL, at TEXT NOT NULL, tick REAL NOT NULL, void_tick REAL, voided_by TEXT);
CREATE TABLE IF NOT EXISTS requests (
    seq INTEGER PRIMARY KEY, method TEXT NOT NULL, path TEXT NOT NULL, key TEXT,
    sha256 TEXT NOT NULL, body TEXT NOT NULL, at TEXT NOT NULL, fault TEXT);
CREATE TABLE IF NOT EXISTS operations (
    id TEXT PRIMARY KEY, effect TEXT NOT NULL, service TEXT NOT NULL, key TEXT,
    body TEXT NOT NULL, status TEXT NOT NULL, at TEXT NOT NULL, tick REAL NOT NULL);
CREATE TABLE IF NOT EXISTS keys (
    service TEXT, key TEXT, sha256 TEXT NOT NULL, tick REAL NOT NULL, answer TEXT NOT NULL,
    PRIMARY KEY (service, key));
CREATE TABLE IF NOT EXISTS fences (service TEXT, key TEXT, PRIMARY KEY (service, key));
CREATE INDEX IF NOT EXISTS effects_by_key ON effects (key);
"""

MEANT: Final = """(:key IS NULL OR key = :key OR (substr(:key, -1) = '*'
    AND substr(key, 1, length(:key) - 1) = substr(:key, 1, length(:key) - 1)))"""
"""SQL for a key or a key prefix that ends in `*`; None means every row, those without key too."""

SEEN: Final = """
SELECT id, key, body, at, iif(void_tick <= :horizon, 'voided', 'succeeded') AS status
FROM effects WHERE service = :service AND tick <= :horizon AND (key = :key OR id = :id)
UNION ALL
SELECT effect, key, body, at, iif(status = 'failed', 'failed', 'pending')
FROM operations WHERE service = :service AND (key = :key OR effect = :id)
AND (status = 'failed' OR tick <= :horizon)
AND NOT EXISTS (SELECT 1 FROM effects e WHERE e.id = operations.effect AND e.tick <= :horizon)
"""


class Fenced(Exception):
    """The key was fenced before this commit; nothing was applied."""


class EffectRow(BaseModel):
    """One committed effect. `body` is the applied content, `voided_by` the key of the DELETE."""

    model_config = ConfigDict(frozen=True)

    service: str
    id: str
    key: str | None
    body: JsonValue
    status: Literal["succeeded", "voided"]
    at: datetime
    voided_by: str | None = None

    def shown(self) -> dict[str, JsonValue]:
        """The effect as a service shows it, which is less than the ledger knows."""
        return self.model_dump(mode="json", exclude={"service", "voided_by"})


class RequestRow(BaseModel):
    """One received request, applied or not. `path` has the query, `sha256` is of the raw body."""

    model_config = ConfigDict(frozen=True)

    method: str
    path: str
    key: str | None
    sha256: str
    body: str
    at: datetime
    fault: str | None = None


def new_effect_id() -> str:
    return f"ef_{uuid4().hex[:12]}"


def digest(body: bytes) -> str:
    return sha256(body).hexdigest()


class Ledger:
    """The tables of one world in one folder, made where missing; they survive the process."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._clock = clock
        folder.mkdir(parents=True, exist_ok=True)
        self.db = sqlite3.connect(folder / FILE, isolation_level=None)
        self.db.row_factory = sqlite3.Row
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = NORMAL")
        self.db.executescript(SCHEMA)
        # Ticks begin anew when the machine does; a tick from the future would never be reached.
        for table in ("effects", "keys"):
            self.db.execute(f"UPDATE {table} SET tick = min(tick, ?)", (clock.now(),))

    def close(self) -> None:
        self.db.close()

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """All of the block or nothing of it; not nestable."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def commit(self, service: str, key: str | None, body: bytes, effect_id: str) -> EffectRow:
        """Applies one effect. Raises Fenced where the key may not commit any more."""
        done = self.db.execute(
            "INSERT INTO effects (service, id, key, body, at, tick) SELECT ?, ?, ?, ?, ?, ? "
            "WHERE NOT EXISTS (SELECT 1 FROM fences WHERE service = ? AND key = ?)",
            (service, effect_id, key, body.decode(), self._now(), self._clock.now(), service, key),
        )
        effect = self.effect(service, effect_id)
        if done.rowcount == 0 or effect is None:
            raise Fenced
        return effect

    def void(self, service: str, effect_id: str, key: str | None) -> EffectRow | None:
        """Undoes an effect, once; None where the service has no such effect."""
        self.db.execute(
            "UPDATE effects SET void_tick = ?, voided_by = ? "
            "WHERE service = ? AND id = ? AND void_tick IS NULL",
            (self._clock.now(), key, service, effect_id),
        )
        return self.effect(service, effect_id)

    def fence(self, service: str, key: str) -> EffectRow | None:
        """Forbids the key for ever; the effect instead where it is already committed."""
        self.db.execute(
            "INSERT OR IGNORE INTO fences SELECT ?, ? "
            "WHERE NOT EXISTS (SELECT 1 FROM effects WHERE service = ? AND key = ?)",
            (service, key, service, key),
        )
        return next((effect for effect in self.effects(key) if effect.service == service), None)

    def effect(self, service: str, effect_id: str) -> EffectRow | None:
        rows = self.db.execute(
            "SELECT * FROM effects WHERE service = ? AND id = ?", (service, effect_id)
        )
        return next((_effect(row) for row in rows), None)

    def effects(self, key: str | None) -> list[EffectRow]:
        """The truth at once, oldest first; `key` as in MEANT."""
        rows = self.db.execute(f"SELECT * FROM effects WHERE {MEANT} ORDER BY seq", {"key": key})
        return [_effect(row) for row in rows]

    def seen(
        self, service: str, *, key: str | None = None, id: str | None = None, lag: float
    ) -> list[dict[str, JsonValue]]:
        """What a lookup that lags by `lag` seconds shows, pending and failed operations too."""
        horizon = self._clock.now() - lag
        sought = {"service": service, "key": key, "id": id, "horizon": horizon}
        return [
            dict(row) | {"body": json.loads(row["body"])} for row in self.db.execute(SEEN, sought)
        ]

    def open_operation(self, service: str, key: str | None, body: bytes) -> tuple[str, str]:
        """A pending operation; its id and the id that its effect will have."""
        operation, effect_id = f"op_{uuid4().hex[:12]}", new_effect_id()
        self.db.execute(
            "INSERT INTO operations VALUES (?, ?, ?, ?, ?, 'pending', ?, ?)",
            (operation, effect_id, service, key, body.decode(), self._now(), self._clock.now()),
        )
        return operation, effect_id

    def end_operation(self, operation: str, status: Literal["succeeded", "failed"]) -> None:
        self.db.execute("UPDATE operations SET status = ? WHERE id = ?", (status, operation))

    def operation(self, service: str, operation: str) -> dict[str, JsonValue] | None:
        """`{"id", "key", "status", "effect"}`; the effect's id is told once it exists."""
        rows = self.db.execute(
            "SELECT id, key, status, iif(status = 'succeeded', effect, NULL) AS effect "
            "FROM operations WHERE service = ? AND id = ?",
            (service, operation),
        )
        return next((dict(row) for row in rows), None)

    def record(
        self, method: str, path: str, key: str | None, body: bytes, fault: str | None
    ) -> None:
        text = body.decode(errors="replace")
        self.db.execute(
            "INSERT INTO requests (method, path, key, sha256, body, at, fault) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (method, path, key, digest(body), text, self._now(), fault),
        )

    def requests(self, key: str | None) -> list[RequestRow]:
        """Every request to a service, oldest first; `key` as in MEANT."""
        rows = self.db.execute(f"SELECT * FROM requests WHERE {MEANT} ORDER BY seq", {"key": key})
        return [RequestRow.model_validate(dict(row)) for row in rows]

    def last_content(self, key: str) -> JsonValue:
        """The JSON last sent under a key, applied or not; `{}` where none was."""
        row = self.db.execute(
            "SELECT body FROM requests WHERE key = ? AND method = 'POST' AND json_valid(body) "
            "AND path LIKE '%/effects' ORDER BY seq DESC LIMIT 1",
            (key,),
        ).fetchone()
        content: JsonValue = {} if row is None else json.loads(row["body"])
        return content

    def _now(self) -> str:
        return self._clock.date().isoformat().replace("+00:00", "Z")


def _effect(row: sqlite3.Row) -> EffectRow:
    status = "succeeded" if row["void_tick"] is None else "voided"
    return EffectRow.model_validate(dict(row) | {"body": json.loads(row["body"]), "status": status})
