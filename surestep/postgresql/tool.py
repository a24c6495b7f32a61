"""A tool whose effect is a transaction."""

import inspect
from datetime import timedelta
from typing import Any, Final

from psycopg import IsolationLevel
from pydantic import BaseModel

from surestep.contract import FOREVER, ZERO, Contract, Effect, KeySupport
from surestep.errors import ContractError
from surestep.identity import UNDO_SUFFIX
from surestep.postgresql.database import Database
from surestep.postgresql.transaction import Apply, Transaction
from surestep.tool import Tool


def promises(
    effect: Effect = Effect.IRREVERSIBLE, timeout: timedelta = timedelta(seconds=30), **more: Any
) -> Contract:
    """The contract that a transaction keeps; `more` are the other fields of Contract.

    The key is never forgotten, the lookup is a strong read, and nothing commits after the
    attempt's deadline: the server sees to that, so Δ is the attempt's own timeout.
    """
    key = KeySupport(lifetime=FOREVER)
    return Contract(
        effect=effect, key=key, timeout=timeout, in_flight=timeout, visibility_lag=ZERO, **more
    )


PROMISES: Final = promises()


class PostgreSQLTool(Tool):
    """`@tool.apply` is all that its author writes; execute, verify and fence follow from it.

    database   where; several tools may share one
    contract   made by `promises`
    isolation  of the author's transaction; None: the server's default
    """

    def __init__(
        self,
        name: str,
        arguments: type[BaseModel],
        *,
        database: Database | None = None,
        contract: Contract = PROMISES,
        isolation: IsolationLevel | None = None,
        recognise: str | None = None,
    ) -> None:
        if contract.in_flight is None or contract.in_flight < contract.timeout:
            raise ContractError(
                f"tool {name!r}: a transaction may commit until its timeout: use promises(…)"
            )
        super().__init__(name, arguments, contract, recognise=recognise)
        self.database = database or Database()
        self._isolation = isolation

    def apply(self, function: Apply) -> Apply:
        """`async def apply(connection, args)`: the effect, inside our transaction.

        Return JSON, a Receipt, or nothing. Raise Refused to say no; whatever it raises, all is
        rolled back. Savepoints (`connection.transaction()`) are yours; COMMIT and ROLLBACK are
        ours, and `connection.commit()` raises here. What is done elsewhere, by HTTP for instance,
        is not part of the transaction: make it an action of its own.
        """
        ours = self._transaction(self.name, function)
        self.execute(ours.execute)
        self.verify(ours.verify)
        self.fence(ours.fence)
        return function

    def revert(self, function: Apply) -> Apply:
        """`async def revert(connection, args)` undoes a confirmed `apply`, in the same way."""
        ours = self._transaction(f"{self.name}{UNDO_SUFFIX}", function)
        self.compensate(ours.execute)
        self.verify_compensation(ours.verify)
        return function

    def _transaction(self, name: str, function: Apply) -> Transaction:
        if not inspect.iscoroutinefunction(function):
            raise ContractError(f"tool {name!r}: what it does in the transaction must be async def")
        return Transaction(self.database, name, function, self._isolation)
