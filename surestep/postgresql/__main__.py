"""`python -m surestep.postgresql migrate` makes our table; `sql` prints what it would run."""

import argparse
import asyncio
import sys

import psycopg

from surestep.errors import SurestepError
from surestep.postgresql.database import TABLE, Database


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m surestep.postgresql", description=__doc__)
    parser.add_argument("command", choices=["migrate", "sql"])
    parser.add_argument("--table", default=TABLE, help="schema.table (default: %(default)s)")
    given = parser.parse_args(arguments)
    try:
        database = Database(table=given.table)
        if given.command == "sql":
            print(database.migration, end="")
        else:
            asyncio.run(database.migrate())
            print(f"{database.table} is there")
    except (SurestepError, psycopg.Error) as error:
        print(f"{error.__cause__ or error}", file=sys.stderr)
        print("DATABASE_URL, or libpq's PG variables, say where.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
