"""PostgreSQL tools: the effect and its receipt commit together, in the author's own database.

    class Transfer(BaseModel):
        account: int
        cents: int

    transfer = PostgreSQLTool("transfer", Transfer, recognise="account")

    @transfer.apply
    async def _(connection: AsyncConnection, args: Transfer) -> dict[str, int]:
        found = await connection.execute(
            "UPDATE accounts SET cents = cents + %s WHERE id = %s RETURNING cents",
            (args.cents, args.account),
        )
        return {"balance": (await found.fetchone())[0]}

Once per database, explicitly: `python -m surestep.postgresql migrate` (or `sql`, to print it).

What is promised, and by what

* *Once.* The transaction first inserts a row under the actionId's unique key, so a second attempt
  waits for the first to end, and then is answered with its receipt; other arguments under the same
  actionId, and a fenced actionId, are refused. The row stays for ever (`key=FOREVER`): deleting one
  lets its action happen again.
* *Definite until COMMIT.* The server rolls back what was never committed, so every failure before
  COMMIT left is definite. Only a reply that was lost to COMMIT itself is ambiguous.
* *No late commit* (Δ). The attempt's deadline is translated to the server's clock and checked there
  in the last statement before COMMIT, which also sets `idle_in_transaction_session_timeout` and
  `statement_timeout` to what is left. So the COMMIT of a worker that was frozen and woke up finds
  its transaction gone. `transaction_timeout` is not needed for this, and servers before 17 lack it.
* *Strong read* (λ = 0). `verify` reads in a snapshot of its own, taken after it has tried the lock
  that a transaction of this action holds until its commit is visible: while one is open the answer
  is `unknown`. A miss on a server in recovery is `unknown` as well; a hit is a hit anywhere.
* *Fence.* A tombstone under the same key; it waits for an open transaction to end.

All of it rests on one hypothesis: every worker is connected to the same database, and a commit that
was answered stays (a failover to an asynchronous standby may lose effect and receipt together).
"""

try:
    import psycopg as _driver  # noqa: F401
except ImportError as error:
    raise ImportError(
        "PostgreSQL tools need psycopg: pip install 'surestep[postgresql]'"
    ) from error

from surestep.postgresql.database import Database
from surestep.postgresql.tool import PROMISES, PostgreSQLTool, promises

__all__ = ["PROMISES", "Database", "PostgreSQLTool", "promises"]
