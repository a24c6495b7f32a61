"""A bank whose transfers are the effects: the tool, and the rows that judge it."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from pydantic import BaseModel

from surestep import Call, Refused
from surestep.postgresql import Database, PostgreSQLTool, promises
from tests.postgresql.server import Server
from tests.waiting import eventually


class Transfer(BaseModel):
    account: int
    cents: int


class Bank:
    ACCOUNTS = """
        CREATE TABLE accounts (id int PRIMARY KEY, cents int NOT NULL CONSTRAINT covered
            CHECK (cents >= 0));
        CREATE TABLE transfers (account int NOT NULL, cents int NOT NULL,
            account_must_exist int GENERATED ALWAYS AS (account) STORED
            REFERENCES accounts DEFERRABLE INITIALLY DEFERRED);
        INSERT INTO accounts VALUES (1, 1000), (2, 1000);
    """

    def __init__(self, server: Server, name: str, url: str) -> None:
        self.server = server
        self.name = name
        self.url = url
        self.database = Database(lambda: self.url)

    def tool(self, name: str = "transfer", seconds: float = 10, **options) -> PostgreSQLTool:
        promised = promises(timeout=timedelta(seconds=seconds), patience=timedelta(seconds=1))
        tool = PostgreSQLTool(
            name, Transfer, database=self.database, contract=promised, recognise="account",
            **options,
        )  # fmt: skip
        tool.apply(transfer)
        tool.revert(give_back)
        return tool

    def held(self, at: asyncio.Event, until: asyncio.Event) -> PostgreSQLTool:
        """It sets `at` when it has applied, and does not commit before `until`."""
        tool = self.tool()

        @tool.apply
        async def _(connection, args):
            receipt = await transfer(connection, args)
            at.set()
            await until.wait()
            return receipt

        return tool

    async def until(self, what: Callable[[], object]) -> None:
        """Wait until the database says so."""

        async def asked() -> object:
            return what()

        await eventually(asked)

    def transfers(self) -> int:
        return self.ask("SELECT count(*) FROM transfers")

    def cents(self, account: int = 1) -> int:
        return self.ask(f"SELECT cents FROM accounts WHERE id = {account}")

    def waiting(self) -> int:
        """Sessions that wait for a lock."""
        return self.ask(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )

    def sessions(self) -> int:
        return self.ask(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = 'surestep'"
        )

    def ask(self, statement: str):
        rows = self.server.ask(statement, self.name)
        return rows[0][0] if rows else None


async def transfer(connection, args):
    if args.cents == 13:
        raise Refused("thirteen brings bad luck")
    await connection.execute(
        "INSERT INTO transfers (account, cents) VALUES (%s, %s)", (args.account, args.cents)
    )
    found = await connection.execute(
        "UPDATE accounts SET cents = cents + %s WHERE id = %s RETURNING cents",
        (args.cents, args.account),
    )
    row = await found.fetchone()
    return {"balance": row[0] if row else None}


async def give_back(connection, args):
    return await transfer(connection, args.model_copy(update={"cents": -args.cents}))


def call(action_id: str = "step/transfer", seconds: float = 10) -> Call:
    return Call(action_id, attempt=1, deadline=datetime.now(UTC) + timedelta(seconds=seconds))
