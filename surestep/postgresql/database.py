"""The author's database: how to reach it, and the one table that we keep in it."""

import asyncio
import inspect
import logging
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final, LiteralString, TypeVar

from psycopg import AsyncConnection, AsyncCursor, OperationalError
from psycopg.rows import TupleRow, tuple_row
from psycopg.sql import SQL, Composed, Identifier

from surestep.errors import ContractError, NotSent
from surestep.tool import Call

Connection = AsyncConnection[TupleRow]
Conninfo = Callable[[], str | Awaitable[str]]
T = TypeVar("T")

TABLE: Final = "public.surestep_actions"

# Of an attempt's time, kept for the answer to COMMIT and the report: a tenth, two seconds at most.
RESERVE: Final = timedelta(seconds=2)

_MIGRATION: Final = """
CREATE TABLE IF NOT EXISTS {table} (
    action_id  text COLLATE "C" PRIMARY KEY,
    tool       text NOT NULL,
    input_hash text NOT NULL,
    state      text NOT NULL CHECK (state IN ('applied', 'fenced')),
    receipt    jsonb,
    at         timestamptz NOT NULL DEFAULT clock_timestamp()
)
"""

_log = logging.getLogger(__name__)


def from_environment() -> str:
    """`DATABASE_URL`, or libpq's own variables (PGHOST, PGSERVICE, PGPASSFILE …) without it."""
    return os.environ.get("DATABASE_URL", "")


class Database:
    """A database that holds our table beside the author's own.

    conninfo  called for every connection, so that credentials are never older than the send; it
              returns what libpq accepts, at once or as an awaitable
    table     `schema.table`, always qualified: a search_path must not decide what was done
    """

    def __init__(self, conninfo: Conninfo = from_environment, *, table: str = TABLE) -> None:
        if not re.fullmatch(r"[A-Za-z_]\w*\.[A-Za-z_]\w*", table, re.ASCII):
            raise ContractError(f"table {table!r} must be schema.table, such as {TABLE!r}")
        self.table = table
        self._conninfo = conninfo

    def sql(self, statement: LiteralString) -> Composed:
        """The statement with our table's name in place of {table}."""
        return SQL(statement).format(table=Identifier(*self.table.split(".")))

    @property
    def migration(self) -> str:
        """The SQL that makes our table, for those who run their migrations themselves."""
        return self.sql(_MIGRATION).as_string().strip() + ";\n"

    async def migrate(self) -> None:
        """Make our table where it is missing. It may be called again, and by several at once.

        Raises NotSent, or psycopg's own error where the server refuses.
        """
        lock = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
        limit = timedelta(seconds=30)
        async with self.connected(limit) as connection, connection.transaction():
            # IF NOT EXISTS alone fails where two sessions make one table at the same time.
            await connection.execute(lock, (self.table,))
            await connection.execute(self.sql(_MIGRATION))

    @asynccontextmanager
    async def connected(self, within: timedelta) -> AsyncIterator[Connection]:
        """A connection of its own, closed at the end without a word. Raises NotSent.

        Not kept and not pooled: closing is how a transaction that failed is rolled back, also
        where the server no longer answers.
        """
        connection = await self._connect(within)
        try:
            yield connection
        finally:
            await connection.close()

    async def _connect(self, within: timedelta) -> Connection:
        try:
            async with asyncio.timeout(within.total_seconds()):
                given = self._conninfo()
                conninfo = await given if inspect.isawaitable(given) else given
                return await AsyncConnection.connect(
                    conninfo,
                    autocommit=True,
                    prepare_threshold=None,  # a pooler may hand each transaction another session
                    fallback_application_name="surestep",
                )
        except Exception as error:
            if isinstance(error, OperationalError):  # others may quote the connection information
                _log.info("no connection to PostgreSQL: %s", error)
            raise NotSent(f"no connection to PostgreSQL ({type(error).__name__})") from error


def cursor(connection: Connection) -> AsyncCursor[TupleRow]:
    """A cursor whose rows are tuples, whatever the author made of the connection."""
    return connection.cursor(row_factory=tuple_row)


def remaining(call: Call) -> timedelta:
    """What is left of the attempt. Raises NotSent if nothing is."""
    left = call.deadline - datetime.now(UTC)
    if left <= timedelta(0):
        raise NotSent("the worker woke up too late to send")
    return left


async def server_deadline(connection: Connection, call: Call) -> datetime:
    """When the attempt must have ended, less the reserve, by the server's clock.

    The server's clock is read first, so a worker that is frozen anywhere in here gets a deadline
    that is too early, never one that is too late.
    """
    answer = await cursor(connection).execute("SELECT clock_timestamp()")
    row: Any = await answer.fetchone()
    left = remaining(call)
    at: datetime = row[0]
    return at + left - min(RESERVE, left / 10)
