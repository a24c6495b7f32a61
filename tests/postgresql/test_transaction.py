"""One transaction: what commits together, what is refused, and what a repeat is answered."""

import asyncio
from datetime import timedelta

import psycopg
import pytest

from surestep import ContractError, NotSent, Receipt, Refused
from surestep.conformance import Judgement, check
from surestep.evidence import Finding
from surestep.postgresql import Database, PostgreSQLTool, promises
from surestep.postgresql.__main__ import main
from tests.postgresql.bank import Transfer, call

pytestmark = pytest.mark.xdist_group("postgresql")

TEN = Transfer(account=1, cents=10)


async def test_the_effect_and_its_receipt_commit_together(bank):
    tool = bank.tool()
    receipt = await tool.execute_with(TEN, call())
    assert (bank.transfers(), bank.cents()) == (1, 1010)
    assert receipt.result == {"balance": 1010}
    assert (receipt.id, receipt.status) == ("step/transfer", "applied")
    seen = await tool.verify_with(TEN, call())
    assert seen.finding is Finding.CONFIRMED
    assert seen.matches == (receipt,)


async def test_a_repeat_is_answered_with_the_first_receipt(bank):
    tool = bank.tool()
    first = await tool.execute_with(TEN, call())
    assert await tool.execute_with(TEN, call()) == first
    assert bank.transfers() == 1


async def test_ten_attempts_at_once_apply_once_and_have_one_receipt(bank):
    tool = bank.tool()
    receipts = await asyncio.gather(*(tool.execute_with(TEN, call()) for _ in range(10)))
    assert bank.transfers() == 1
    assert all(receipt == receipts[0] for receipt in receipts)


@pytest.mark.parametrize("level", list(psycopg.IsolationLevel))
async def test_at_every_isolation_level_two_attempts_apply_once(bank, level):
    at, until = asyncio.Event(), asyncio.Event()
    first = asyncio.create_task(bank.held(at, until).execute_with(TEN, call()))
    await at.wait()
    second = asyncio.create_task(bank.tool(isolation=level).execute_with(TEN, call()))
    await bank.until(bank.waiting)
    until.set()
    receipt = await first
    if level >= psycopg.IsolationLevel.REPEATABLE_READ:
        with pytest.raises(Refused, match="40001"):  # its snapshot is older than the first commit
            await second
        second = bank.tool(isolation=level).execute_with(TEN, call())
    assert await second == receipt
    assert bank.transfers() == 1


async def test_other_arguments_under_one_action_id_are_refused_and_seen(bank):
    tool = bank.tool()
    await tool.execute_with(TEN, call())
    other = Transfer(account=1, cents=20)
    with pytest.raises(Refused, match="other arguments") as refused:
        await tool.execute_with(other, call())
    assert not refused.value.again
    assert bank.transfers() == 1
    assert (await tool.verify_with(other, call())).differs == ("arguments",)
    with pytest.raises(Refused, match="other arguments"):
        await tool.fence_with(other, call())


async def test_a_field_that_a_later_release_adds_does_not_change_what_was_recorded(bank):
    class Later(Transfer):
        note: str = "none"

    first = await bank.tool().execute_with(TEN, call())
    recorded = bank.tool().normalise(TEN)
    later = PostgreSQLTool("transfer", Later, database=bank.database)
    later.apply(never)
    assert await later.execute_with(later.load(recorded), call()) == first


async def never(connection, args):
    raise AssertionError("applied again")


@pytest.mark.parametrize(
    ("args", "words", "again"),
    [
        (Transfer(account=1, cents=-2000), "23514 .*covered", False),
        (Transfer(account=9, cents=10), "23503 .*account_must_exist", False),  # only at COMMIT
        (Transfer(account=1, cents=13), "bad luck", False),
    ],
)
async def test_what_the_database_or_the_author_refuses_leaves_nothing(bank, args, words, again):
    tool = bank.tool()
    with pytest.raises(Refused, match=words) as refused:
        await tool.execute_with(args, call())
    assert refused.value.again is again
    assert (bank.transfers(), bank.cents()) == (0, 1000)
    assert (await tool.verify_with(args, call())).finding is Finding.NOT_FOUND
    assert await tool.execute_with(TEN, call())  # the key is not spent


async def test_an_exception_of_the_author_rolls_back_and_keeps_its_text_to_itself(bank):
    tool = bank.tool()

    @tool.apply
    async def _(connection, args):
        await connection.execute("INSERT INTO transfers VALUES (1, 1)")
        raise ValueError("a secret")

    with pytest.raises(Refused, match="apply raised ValueError; rolled back"):
        await tool.execute_with(TEN, call())
    assert bank.transfers() == 0


async def test_an_error_that_the_author_swallowed_does_not_pass_for_success(bank):
    tool = bank.tool()

    @tool.apply
    async def _(connection, args):
        try:
            await connection.execute("SELECT 1/0")
        except psycopg.Error:
            return "fine"

    with pytest.raises(Refused, match="25P02"):
        await tool.execute_with(TEN, call())


async def test_savepoints_belong_to_the_author(bank):
    tool = bank.tool()

    @tool.apply
    async def _(connection, args):
        await connection.execute("INSERT INTO transfers (account, cents) VALUES (1, 1)")
        try:
            async with connection.transaction():
                await connection.execute("SELECT 1/0")
        except psycopg.Error:
            return Receipt(id="t-1", status="booked")

    receipt = await tool.execute_with(TEN, call())
    assert (receipt.id, receipt.status, bank.transfers()) == ("t-1", "booked", 1)


@pytest.mark.parametrize("result", [object(), float("nan"), {"a": {1, 2}.__iter__}])
async def test_a_result_that_is_not_json_is_refused_before_commit(bank, result):
    tool = bank.tool()

    @tool.apply
    async def _(connection, args):
        await connection.execute("INSERT INTO transfers (account, cents) VALUES (1, 1)")
        return result

    with pytest.raises(Refused, match="JSON"):
        await tool.execute_with(TEN, call())
    assert bank.transfers() == 0


async def test_an_answered_commit_is_durable_whatever_the_role_says(bank):
    bank.server.ask(f"ALTER DATABASE {bank.name} SET synchronous_commit = off")
    tool = bank.tool()

    @tool.apply
    async def _(connection, args):
        return (await (await connection.execute("SHOW synchronous_commit")).fetchone())[0]

    assert (await tool.execute_with(TEN, call())).result == "on"


async def test_a_revert_is_a_transaction_of_the_same_kind(bank):
    tool = bank.tool()
    undo = tool.undo
    await tool.execute_with(TEN, call())
    for _ in range(2):
        await undo.execute_with(TEN, call("step/transfer/undo"))
    assert bank.cents() == 1000
    seen = await undo.verify_with(TEN, call("step/transfer/undo"))
    assert seen.finding is Finding.CONFIRMED


async def test_the_conformance_check_finds_every_promise_of_a_transaction_kept(bank):
    report = await check(
        bank.tool(),
        TEN.model_dump(),
        refused={"account": 9, "cents": 1},
        sandbox=True,
        patience=timedelta(seconds=1),
    )
    assert report.ok, report
    kept = {row.promise for row in report.of(Judgement.KEPT)}
    assert kept >= {"key", "key_at_once", "key_content", "refusal", "fence", "fence_existing"}
    assert kept >= {"visibility_lag", "strangers", "compensate", "verify_compensation"}
    assert report["key_lifetime"].says == "the key is honoured for ever"
    assert report.left == ()


async def test_a_missing_table_names_its_remedy_and_is_not_the_actions_fault(server, name):
    database = Database(lambda: server.url(name))
    tool = PostgreSQLTool("transfer", Transfer, database=database)
    tool.apply(never)
    with pytest.raises(NotSent, match=r"python -m surestep\.postgresql migrate"):
        await tool.execute_with(TEN, call())
    assert "migrate" in (await tool.verify_with(TEN, call())).why
    with pytest.raises(NotSent, match="migrate"):
        await tool.fence_with(TEN, call())


async def test_a_missing_grant_names_its_remedy(bank):
    bank.url = bank.server.url(bank.name, user="newcomer")
    with pytest.raises(NotSent, match=r"GRANT SELECT, INSERT, UPDATE ON public\.surestep_actions"):
        await bank.tool().execute_with(TEN, call())


async def test_migrations_may_run_again_and_side_by_side(server, name):
    database = Database(lambda: server.url(name))
    await asyncio.gather(*(database.migrate() for _ in range(5)))
    await database.migrate()


def test_the_migration_is_a_command(server, name, monkeypatch, capsys):
    monkeypatch.setenv("DATABASE_URL", server.url(name))
    assert main(["migrate"]) == 0
    assert main(["sql", "--table", "public.other"]) == 0
    assert 'CREATE TABLE IF NOT EXISTS "public"."other"' in capsys.readouterr().out
    assert server.ask("SELECT count(*) FROM surestep_actions", name) == [(0,)]
    monkeypatch.setenv("DATABASE_URL", server.url("nowhere"))
    assert main(["migrate"]) == 1
    assert "nowhere" in capsys.readouterr().err


def test_what_cannot_be_kept_is_refused_when_the_tool_is_made():
    with pytest.raises(ContractError, match=r"schema\.table"):
        Database(table="actions")
    short = promises().model_copy(update={"in_flight": None})
    with pytest.raises(ContractError, match="promises"):
        PostgreSQLTool("transfer", Transfer, contract=short)
    with pytest.raises(ContractError, match="async def"):
        PostgreSQLTool("transfer", Transfer).apply(lambda connection, args: None)
