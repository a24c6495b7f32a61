"""A tool whose effect is a transaction, and where its password is: in a file, as secrets are given.

    python -m examples.transfer     makes the tables

docker-compose.yml runs it in its profile `demo`. DATABASE_URL says where the database is, and
DATABASE_PASSWORD_FILE in which file its password stands. The file is read for every connection: a
password that is replaced holds from the next send.
"""

import asyncio
import os
from datetime import timedelta
from pathlib import Path

from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from pydantic import BaseModel

from surestep.postgresql import Database, PostgreSQLTool

TABLES = "CREATE TABLE IF NOT EXISTS transfers (account text NOT NULL, cents bigint NOT NULL)"


class Transfer(BaseModel):
    account: str
    cents: int


def conninfo() -> str:
    file = os.environ.get("DATABASE_PASSWORD_FILE")
    password = {"password": Path(file).read_text().strip()} if file else {}
    return make_conninfo(os.environ.get("DATABASE_URL", ""), **password)


database = Database(conninfo)
transfer = PostgreSQLTool("transfer", Transfer, database=database, recognise="account")


@transfer.apply
async def _(connection: AsyncConnection, args: Transfer) -> None:
    insert = "INSERT INTO transfers (account, cents) VALUES (%s, %s)"
    await connection.execute(insert, (args.account, args.cents))


async def make_tables() -> None:
    await database.migrate()
    async with database.connected(timedelta(seconds=30)) as connection, connection.transaction():
        await connection.execute(TABLES)


if __name__ == "__main__":
    asyncio.run(make_tables())
