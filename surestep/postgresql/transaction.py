"""One action as one transaction: claim the key, apply, write the receipt, commit."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final

import psycopg
from psycopg import IsolationLevel
from psycopg.pq import TransactionStatus
from psycopg.types.json import Jsonb
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from surestep.errors import Ambiguous, Refused, SurestepError
from surestep.evidence import Receipt, Verification, confirmed, not_found, unknown
from surestep.identity import input_hash
from surestep.places import as_recorded
from surestep.postgresql.database import (
    Connection,
    Database,
    cursor,
    remaining,
    server_deadline,
)
from surestep.postgresql.failures import at_commit, at_our_table, before_commit
from surestep.tool import Call, Fence

Apply = Callable[[Connection, Any], Awaitable[Any]]

# Zero would switch a timeout off, so what is over gets a millisecond.
_LEFT: Final = "ceil(extract(epoch FROM %(until)s - clock_timestamp()) * 1000)"
_TIMEOUTS: Final = f"""
    set_config('statement_timeout', greatest(1, {_LEFT})::text, true),
    set_config('idle_in_transaction_session_timeout', greatest(1, {_LEFT})::text, true)
"""
# An answered commit must survive a crash of the server; the author may ask for more, not for less.
_ARM: Final = f"""
    SELECT {_TIMEOUTS}, set_config('synchronous_commit', coalesce(
        nullif(current_setting('synchronous_commit'), 'off'), 'on'), true)
"""
_READ_COMMITTED: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended(%(key)s, 0))"
_TRY_LOCK: Final = "SELECT pg_try_advisory_xact_lock_shared(hashtextextended(%(key)s, 0))"
_CLAIM: Final = """
    INSERT INTO {table} (action_id, tool, input_hash, state)
    VALUES (%(key)s, %(tool)s, %(hash)s, %(state)s) ON CONFLICT DO NOTHING RETURNING at
"""
_READ: Final = "SELECT state, tool, input_hash, receipt FROM {table} WHERE action_id = %(key)s"
# No row: `apply` ended our transaction, and this statement runs in another one.
_RECEIPT: Final = (
    "UPDATE {table} SET receipt = %(receipt)s"
    " WHERE action_id = %(key)s AND xmin = pg_current_xact_id()::xid"
    f" RETURNING clock_timestamp() < %(until)s, {_TIMEOUTS}"
)
_OTHERS: Final = "this actionId was used with other arguments"
_ENDED: Final = "apply ended the transaction: leave COMMIT and ROLLBACK to Surestep"
_MISUSED: Final = (
    "apply misused the connection, and all was rolled back (commit() and rollback() are Surestep's)"
)


class Transaction:
    """`execute`, `verify` and `fence` of a tool, made from what the author applies."""

    def __init__(
        self, database: Database, tool: str, apply: Apply, isolation: IsolationLevel | None
    ) -> None:
        self._database = database
        self._tool = tool
        self._apply = apply
        level = isolation.name.replace("_", " ") if isolation else ""
        self._begin = f"BEGIN ISOLATION LEVEL {level}" if level else "BEGIN"

    async def execute(self, args: BaseModel, call: Call) -> Receipt:
        """Apply once and commit with the receipt; a repeat is answered with the first receipt."""
        committing = False
        try:
            async with self._begun(args, call, self._begin) as (connection, ours):
                async with asyncio.timeout(remaining(call).total_seconds() * 0.95):
                    receipt, earlier = await self._prepare(connection, args, ours)
                if not earlier:
                    committing = True
                    await _commit(connection)
                return receipt
        except (TimeoutError, asyncio.CancelledError) as error:
            if committing:
                raise
            late = isinstance(error, TimeoutError)
            why = "no answer in time" if late else "stopped"
            raise Refused(f"{why}; COMMIT was not sent", again=True) from error

    async def verify(self, args: BaseModel, call: Call) -> Verification:
        """The row under our key, read where a miss means something."""
        try:
            async with self._begun(args, call, _READ_COMMITTED) as (connection, ours):
                # The lock first: the next statement's snapshot is then younger than any commit
                # of the transaction that held it.
                free = await self._one(connection, _TRY_LOCK, ours)
                recovering = await self._one(connection, "SELECT pg_is_in_recovery()", ours)
                found = await self._ask(connection, _READ, ours)
                if found and found[0] == "applied":
                    differs = [] if _same(found, ours) else ["arguments"]
                    return confirmed(_receipt(found), differs=differs)
        except SurestepError as error:
            return unknown(str(error))
        if recovering:
            return unknown("this server is a standby, and may lag: connect to the primary")
        if not free:
            return unknown("a transaction of this action is still open")
        return not_found()

    async def fence(self, args: BaseModel, call: Call) -> Fence:
        """A tombstone under our key, or the effect that was there before it."""
        async with self._begun(args, call, _READ_COMMITTED) as (connection, ours):
            await self._ask(connection, _LOCK, ours)
            await self._ask(connection, _CLAIM, {**ours, "state": "fenced"})
            found = await self._ask(connection, _READ, ours)
            await _commit(connection)
        if found is None:
            raise Ambiguous("the tombstone was not written")
        if found[0] == "fenced":
            return Fence(held=True)
        if not _same(found, ours):
            raise Refused(_OTHERS)
        return Fence(held=False, exists=_receipt(found))

    @asynccontextmanager
    async def _begun(
        self, args: BaseModel, call: Call, begin: str
    ) -> AsyncIterator[tuple[Connection, dict[str, Any]]]:
        """A transaction that the server ends by itself at the attempt's deadline."""
        # As recorded: neither a field that a later release adds with a default nor another value
        # of a secret may change the hash.
        recorded = as_recorded(args)
        ours: dict[str, Any] = {
            "key": call.action_id,
            "tool": self._tool,
            "hash": input_hash(recorded),
        }
        async with self._database.connected(remaining(call)) as connection:
            try:
                ours["until"] = await server_deadline(connection, call)
                await connection.execute(begin.encode())
                await self._ask(connection, _ARM, ours)
            except psycopg.Error as error:
                raise before_commit(error) from error
            yield connection, ours

    async def _prepare(
        self, connection: Connection, args: BaseModel, ours: dict[str, Any]
    ) -> tuple[Receipt, bool]:
        """Everything but COMMIT: the receipt, and whether an earlier attempt made it."""
        await self._ask(connection, _LOCK, ours)
        at = await self._one(connection, _CLAIM, {**ours, "state": "applied"})
        if at is None:
            found = await self._ask(connection, _READ, ours)
            return _earlier(found, ours), True
        receipt = _made(await self._applied(connection, args), ours["key"], at)
        written = {**ours, "receipt": Jsonb(receipt.model_dump(mode="json"))}
        in_time = await self._one(connection, _RECEIPT, written)
        if in_time is None:
            raise Ambiguous(_ENDED)
        if not in_time:
            raise Refused("no time was left to commit", again=True)
        return receipt, False

    async def _applied(self, connection: Connection, args: BaseModel) -> Any:
        try:
            # In such a block psycopg refuses commit() and rollback(). After a rollback, what the
            # author goes on to do would be committed at once, without the row under our key.
            async with connection.transaction():
                return await self._apply(connection, args)
        except Exception as error:
            if connection.info.transaction_status is TransactionStatus.IDLE:
                raise Ambiguous(_ENDED) from error
            if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None:
                raise Refused(_MISUSED) from error
            if isinstance(error, psycopg.Error):
                raise before_commit(error) from error
            if isinstance(error, (SurestepError, TimeoutError)):
                raise
            raise Refused(f"apply raised {type(error).__name__}; rolled back") from error

    async def _one(self, connection: Connection, statement: str, ours: dict[str, Any]) -> Any:
        row = await self._ask(connection, statement, ours)
        return row[0] if row else None

    async def _ask(self, connection: Connection, statement: str, ours: dict[str, Any]) -> Any:
        try:
            answer = await cursor(connection).execute(self._database.sql(statement), ours)
            return await answer.fetchone()
        except psycopg.Error as error:
            raise at_our_table(error, self._database.table) from error


async def _commit(connection: Connection) -> None:
    try:
        answer = await connection.execute("COMMIT")
    except psycopg.Error as error:
        raise at_commit(error) from error
    if answer.statusmessage != "COMMIT":  # the answer to COMMIT in a transaction that had failed
        raise Refused("the transaction had failed, and COMMIT rolled it back")


def _made(result: Any, key: str, at: datetime) -> Receipt:
    """What `apply` returned, as a receipt that the table can hold."""
    if not isinstance(result, Receipt):
        result = Receipt(result=result)
    try:
        plain = to_jsonable_python(result.result, inf_nan_mode="constants")
        json.dumps(plain, allow_nan=False)
    except (ValueError, TypeError) as error:
        raise Refused(f"apply returned what is not JSON ({type(error).__name__})") from error
    defaults = {"id": result.id or key, "status": result.status or "applied"}
    made: Receipt = result.model_copy(update={**defaults, "at": result.at or at, "result": plain})
    return made


def _earlier(found: Any, ours: dict[str, Any]) -> Receipt:
    """The receipt of an earlier attempt, or what stands against this one."""
    if found is None:
        raise Refused("the row under this actionId vanished", again=True)
    if found[0] == "fenced":
        raise Refused("this actionId was fenced")
    if not _same(found, ours):
        raise Refused(_OTHERS)
    return _receipt(found)


def _same(found: Any, ours: dict[str, Any]) -> bool:
    return bool(found[1] == ours["tool"] and found[2] == ours["hash"])


def _receipt(found: Any) -> Receipt:
    if found[3] is None:
        raise Ambiguous(_ENDED)
    return Receipt.model_validate(found[3])
