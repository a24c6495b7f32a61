"""Careless authors, and poolers between us and the server: one effect at the most all the same."""

import asyncio

import psycopg
import pytest
from psycopg.rows import dict_row

from surestep import Ambiguous, Receipt, Refused
from surestep.evidence import Finding
from tests.postgresql.bank import Transfer, call, transfer
from tests.postgresql.pooler import Pooler

pytestmark = pytest.mark.xdist_group("postgresql")

TEN = Transfer(account=1, cents=10)
INSERT = "INSERT INTO transfers (account, cents) VALUES (1, 1)"


@pytest.mark.parametrize("method", ["commit", "rollback"])
async def test_an_author_cannot_end_the_transaction_by_habit(bank, method):
    tool = bank.tool()

    @tool.apply
    async def _(connection, args):
        await connection.execute(INSERT)
        await getattr(connection, method)()
        await connection.execute(INSERT)

    for _ in range(2):
        with pytest.raises(Refused, match=r"commit\(\) and rollback\(\) are Surestep's") as caught:
            await tool.execute_with(TEN, call())
        assert not caught.value.again
    assert bank.transfers() == 0
    assert (await tool.verify_with(TEN, call())).finding is Finding.NOT_FOUND


async def test_an_author_who_answers_an_error_with_a_rollback_applies_nothing(bank):
    """The habit after a unique violation: without our block, what follows would be committed."""
    tool = bank.tool()

    @tool.apply
    async def _(connection, args):
        try:
            await connection.execute("SELECT 1/0")
        except psycopg.Error:
            await connection.rollback()
            await connection.execute(INSERT)

    with pytest.raises(Refused):
        await tool.execute_with(TEN, call())
    assert bank.transfers() == 0


async def test_an_author_who_says_commit_in_sql_makes_the_action_ambiguous(bank):
    tool = bank.tool()

    @tool.apply
    async def _(connection, args):
        await connection.execute(INSERT)
        await connection.execute("COMMIT")
        if args.cents == 20:
            raise ValueError
        return Receipt()

    for cents in (10, 20):
        with pytest.raises(Ambiguous, match="leave COMMIT and ROLLBACK"):
            await tool.execute_with(Transfer(account=1, cents=cents), call(f"step/{cents}"))
        seen = await tool.verify_with(Transfer(account=1, cents=cents), call(f"step/{cents}"))
        assert seen.finding is Finding.UNKNOWN
        assert "leave COMMIT" in seen.why


async def test_a_prepared_transaction_that_is_left_behind_is_neither_there_nor_absent(bank):
    tool = bank.tool()

    @tool.apply
    async def _(connection, args):
        await connection.execute(INSERT)
        await connection.execute("PREPARE TRANSACTION 'left'")

    with pytest.raises(Ambiguous, match="leave COMMIT and ROLLBACK"):
        await tool.execute_with(TEN, call())
    assert "still open" in (await tool.verify_with(TEN, call())).why
    with pytest.raises(Refused, match=r"57014|COMMIT was not sent") as caught:
        await bank.tool().execute_with(TEN, call(seconds=0.5))
    assert caught.value.again
    bank.ask("COMMIT PREPARED 'left'")
    assert (await tool.verify_with(TEN, call())).finding is Finding.UNKNOWN
    assert bank.transfers() == 1


async def test_what_an_author_makes_of_the_connection_does_not_disturb_ours(bank):
    tool = bank.tool()

    @tool.apply
    async def _(connection, args):
        connection.row_factory = dict_row
        await connection.execute("SET LOCAL statement_timeout = 0")
        await connection.execute("SET LOCAL search_path = pg_temp")
        await connection.execute("CREATE TEMP TABLE surestep_actions (action_id text)")
        return await (await connection.execute("SELECT 1 AS one")).fetchone()

    assert (await tool.execute_with(TEN, call())).result == {"one": 1}
    assert (await tool.verify_with(TEN, call())).finding is Finding.CONFIRMED


async def test_an_author_who_closes_the_connection_has_applied_nothing(bank):
    tool = bank.tool()

    @tool.apply
    async def _(connection, args):
        await connection.execute(INSERT)
        await connection.close()

    with pytest.raises(Refused) as caught:
        await tool.execute_with(TEN, call())
    assert caught.value.again
    assert bank.transfers() == 0


async def test_a_serialisation_failure_at_commit_itself_is_definite(bank, proxy):
    """The last moment at which it can come: every statement went well."""
    tool = bank.tool(isolation=psycopg.IsolationLevel.SERIALIZABLE)

    @tool.apply
    async def _(connection, args):
        await connection.execute("SELECT cents FROM accounts WHERE id = 2")
        return await transfer(connection, args)

    proxy.fate = "hold"
    sending = asyncio.create_task(tool.execute_with(TEN, call()))
    await proxy.reached.wait()
    with psycopg.connect(bank.server.url(bank.name)) as other:
        other.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
        other.execute("SELECT cents FROM accounts WHERE id = 1")
        other.execute("UPDATE accounts SET cents = cents + 1 WHERE id = 2")
    proxy.release.set()
    with pytest.raises(Refused, match="40001") as caught:
        await sending
    assert caught.value.again
    assert bank.transfers() == 0
    assert (await tool.verify_with(TEN, call())).finding is Finding.NOT_FOUND
    await tool.execute_with(TEN, call())
    assert bank.transfers() == 1


async def test_a_pooler_may_give_each_transaction_another_session(bank, server):
    async with Pooler.before(server.port) as pooler:
        bank.url = server.url(bank.name, port=pooler.port)
        tool = bank.tool()
        receipts = await asyncio.gather(*(tool.execute_with(TEN, call()) for _ in range(5)))
        assert len({receipt.at for receipt in receipts}) == 1
        assert (await tool.verify_with(TEN, call())).matches == (receipts[0],)
        assert (await tool.fence_with(TEN, call("step/other"))).held
        with pytest.raises(Refused, match="fenced"):
            await tool.execute_with(TEN, call("step/other"))
    assert pooler.turns > 5
    assert bank.transfers() == 1
