"""Marked arguments in a transaction: a secret may be rotated, and errors quote nobody."""

from typing import Annotated

import pytest
from pydantic import BaseModel

from surestep import Personal, Receipt, Refused, Secret
from surestep.evidence import Finding
from surestep.postgresql import PostgreSQLTool, promises
from surestep.vault import given, readied
from tests.postgresql.bank import Bank, call

pytestmark = pytest.mark.xdist_group("postgresql")

PEOPLE = "CREATE TABLE people (email text PRIMARY KEY)"


class Invitation(BaseModel):
    email: Annotated[str, Personal()]
    pin: Annotated[str, Secret()] = "pin"


def inviting(bank: Bank) -> PostgreSQLTool:
    tool = PostgreSQLTool("invite", Invitation, database=bank.database, contract=promises())

    @tool.apply
    async def _(connection, args):
        sql = "INSERT INTO people VALUES (%s), (%s)"
        await connection.execute(sql, [args.email, f"with {args.pin}"])
        return Receipt()

    return tool


async def test_another_value_of_a_secret_is_no_other_content(bank):
    bank.ask(PEOPLE)
    tool = inviting(bank)
    recorded = tool(email="ada@example.org").arguments
    first = await readied(tool, recorded, given({"pin": "one-canary"}))
    second = await readied(tool, recorded, given({"pin": "two-canary"}))
    receipt = await tool.execute_with(first.arguments, call())
    assert await tool.execute_with(second.arguments, call()) == receipt
    seen = await tool.verify_with(second.arguments, call())
    assert seen.finding is Finding.CONFIRMED
    assert not seen.differs
    assert bank.ask("SELECT count(*) FROM people") == 2


async def test_a_refusals_detail_that_quotes_the_row_carries_no_canary(bank):
    bank.ask(PEOPLE)
    bank.ask("INSERT INTO people VALUES ('ada.canary@example.org')")
    tool = inviting(bank)
    recorded = tool(email="ada.canary@example.org").arguments
    ready = await readied(tool, recorded, given({"pin": "pin-canary"}))
    with pytest.raises(Refused, match="23505") as known:
        await tool.execute_with(ready.arguments, call())
    assert "canary@" in str(known.value.__cause__.diag.message_detail)
    assert "canary" not in str(known.value)
