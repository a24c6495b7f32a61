"""What fails, and what it proves: connections, COMMIT on a real wire, deadlines, standbys."""

import asyncio
from datetime import UTC, datetime

import psycopg
import pytest

from surestep import Ambiguous, NotSent, Refused, Surestep
from surestep.embedded_process import free_port
from surestep.evidence import Finding
from surestep.handle import StepHandle
from surestep.postgresql import failures
from tests.postgresql.bank import Transfer, call
from tests.waiting import eventually

pytestmark = pytest.mark.xdist_group("postgresql")

TEN = Transfer(account=1, cents=10)


@pytest.mark.parametrize("who", ["nobody listens", "wrong password", "too many connections"])
async def test_without_a_connection_nothing_was_sent(bank, who):
    host = f"127.0.0.1:{bank.server.port}/{bank.name}"
    bank.url = {
        "nobody listens": f"postgresql://postgres@127.0.0.1:{free_port()}/{bank.name}",
        "wrong password": f"postgresql://locked:wrong@{host}",
        "too many connections": f"postgresql://crowded@{host}",
    }[who]
    tool = bank.tool()
    with pytest.raises(NotSent, match="no connection to PostgreSQL"):
        await tool.execute_with(TEN, call())
    assert (await tool.verify_with(TEN, call())).finding is Finding.UNKNOWN
    with pytest.raises(NotSent):
        await tool.fence_with(TEN, call())


async def test_credentials_are_asked_for_at_every_send(bank):
    right = bank.url
    bank.url = f"postgresql://locked:wrong@127.0.0.1:{bank.server.port}/{bank.name}"
    tool = bank.tool()
    with pytest.raises(NotSent):
        await tool.execute_with(TEN, call())
    bank.url = right
    assert await tool.execute_with(TEN, call())


async def test_a_commit_that_was_cut_on_its_way_is_ambiguous_and_absent(bank, proxy):
    tool, proxy.fate = bank.tool(), "cut_before"
    with pytest.raises(Ambiguous, match="COMMIT was sent"):
        await tool.execute_with(TEN, call())
    await bank.until(lambda: bank.sessions() == 0)
    assert (await tool.verify_with(TEN, call())).finding is Finding.NOT_FOUND
    assert bank.transfers() == 0


async def test_a_commit_whose_answer_was_lost_is_ambiguous_and_found(bank, proxy):
    tool, proxy.fate = bank.tool(), "cut_after"
    with pytest.raises(Ambiguous, match="COMMIT was sent"):
        await tool.execute_with(TEN, call())
    assert (await tool.verify_with(TEN, call())).finding is Finding.CONFIRMED
    assert bank.transfers() == 1


async def test_a_connection_lost_before_commit_is_definite(bank):
    tool = bank.tool()

    @tool.apply
    async def _(connection, args):
        await connection.execute("INSERT INTO transfers (account, cents) VALUES (1, 1)")
        await connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    with pytest.raises(Refused, match=r"57P01|connection was lost") as refused:
        await tool.execute_with(TEN, call())
    assert refused.value.again
    assert bank.transfers() == 0


async def test_a_serialisation_failure_is_definite_and_may_be_tried_again(bank):
    tool = bank.tool(isolation=psycopg.IsolationLevel.SERIALIZABLE)

    @tool.apply
    async def _(connection, args):
        await connection.execute("SELECT sum(cents) FROM accounts")
        if bank.cents(2) == 1000:
            bank.ask("UPDATE accounts SET cents = 1500 WHERE id = 2")
        await connection.execute("UPDATE accounts SET cents = cents + 10 WHERE id = 2")

    with pytest.raises(Refused, match="40001") as refused:
        await tool.execute_with(TEN, call())
    assert refused.value.again
    assert bank.cents(2) == 1500
    await tool.execute_with(TEN, call())
    assert bank.cents(2) == 1510


async def test_of_two_that_deadlock_one_is_refused_for_now_and_then_both_apply(bank):
    first_row = asyncio.Barrier(2)

    def crossing(name, *rows):
        tool = bank.tool(name)

        @tool.apply
        async def _(connection, args):
            for row in rows:
                await connection.execute(
                    "UPDATE accounts SET cents = cents + 10 WHERE id = %s", (row,)
                )
                if args.cents == 0 and row == rows[0]:
                    await first_row.wait()

        return tool

    tools = {"a": crossing("a", 1, 2), "b": crossing("b", 2, 1)}
    once = Transfer(account=1, cents=0)
    ends = await asyncio.gather(
        *(tool.execute_with(once, call(f"step/{name}")) for name, tool in tools.items()),
        return_exceptions=True,
    )
    (refused,) = (end for end in ends if isinstance(end, Exception))
    assert isinstance(refused, Refused)
    assert refused.again
    assert "40P01" in str(refused)
    assert (bank.cents(1), bank.cents(2)) == (1010, 1010)


async def test_who_is_stopped_during_commit_knows_nothing(bank, proxy):
    tool, proxy.fate = bank.tool(), "hold"
    sending = asyncio.create_task(tool.execute_with(TEN, call()))
    await proxy.reached.wait()
    sending.cancel()
    proxy.release.set()
    with pytest.raises(asyncio.CancelledError):
        await sending
    await bank.until(lambda: bank.sessions() == 0)
    seen = await tool.verify_with(TEN, call())
    assert seen.finding is (Finding.CONFIRMED if bank.transfers() else Finding.NOT_FOUND)


async def test_a_commit_that_leaves_after_the_deadline_finds_its_transaction_gone(bank, proxy):
    tool, proxy.fate = bank.tool(), "hold"
    sending = asyncio.create_task(tool.execute_with(TEN, call(seconds=1)))
    await proxy.reached.wait()
    await bank.until(lambda: bank.sessions() == 0)  # the server ended it by itself
    proxy.release.set()
    with pytest.raises(Ambiguous):
        await sending
    assert (await tool.verify_with(TEN, call())).finding is Finding.NOT_FOUND
    assert bank.transfers() == 0


async def test_a_transaction_that_begins_after_the_deadline_does_not_commit(bank, proxy):
    tool, proxy.fate, proxy.word = bank.tool(), "hold", b"BEGIN\0"
    late = call(seconds=0.5)
    sending = asyncio.create_task(tool.execute_with(TEN, late))
    await proxy.reached.wait()
    await bank.until(lambda: datetime.now(UTC) > late.deadline)
    proxy.release.set()
    with pytest.raises((NotSent, Refused)):
        await sending
    assert bank.transfers() == 0


async def test_an_attempt_whose_time_is_over_does_not_even_connect(bank):
    with pytest.raises(NotSent, match="too late"):
        await bank.tool().execute_with(TEN, call(seconds=-1))


async def test_an_effect_that_takes_too_long_is_definite_when_no_commit_left(bank):
    tool = bank.tool()

    @tool.apply
    async def _(connection, args):
        await connection.execute("INSERT INTO transfers (account, cents) VALUES (1, 1)")
        if args.cents == 10:
            await connection.execute("SELECT pg_sleep(60)")
        await asyncio.Event().wait()

    for args in TEN, Transfer(account=1, cents=20):  # a long statement, a long pause
        with pytest.raises(Refused, match=r"57014|COMMIT was not sent") as refused:
            await tool.execute_with(args, call(seconds=2))
        assert refused.value.again
    assert bank.transfers() == 0


async def test_a_miss_on_a_standby_is_unknown_and_a_hit_is_a_hit(bank):
    tool = bank.tool()
    await tool.execute_with(TEN, call("step/seen"))
    primary = bank.url
    with bank.server.standby() as standby:
        standby.ask("SELECT pg_wal_replay_pause()")
        await tool.execute_with(TEN, call("step/lagging"))
        bank.url = standby.url(bank.name)
        assert (await tool.verify_with(TEN, call("step/seen"))).finding is Finding.CONFIRMED
        missed = await tool.verify_with(TEN, call("step/lagging"))
        assert missed.finding is Finding.UNKNOWN
        assert "connect to the primary" in missed.why
        with pytest.raises(Refused, match="25006") as refused:
            await tool.execute_with(TEN, call("step/new"))
        assert refused.value.again
    bank.url = primary
    assert (await tool.verify_with(TEN, call("step/lagging"))).finding is Finding.CONFIRMED


def test_every_class_of_sqlstate_is_definite_at_commit_only_by_the_table():
    states = {
        error.sqlstate: error
        for error in vars(psycopg.errors).values()
        if isinstance(error, type) and issubclass(error, psycopg.Error) and error.sqlstate
    }
    assert len(states) > 200
    for state, error in states.items():
        assert isinstance(failures.before_commit(error()), Refused), state
        # Without the server's own "ERROR" in the answer nothing at COMMIT is definite.
        assert isinstance(failures.at_commit(error()), Ambiguous), state


@pytest.mark.parametrize("fate", ["cut_before", "cut_after"])
async def test_a_step_whose_commit_was_cut_ends_with_one_effect(
    working, bank, proxy, step_id, fate
):
    tool, proxy.fate = bank.tool(), fate
    surestep: Surestep
    async with working(tool) as surestep:
        outcome = await surestep.run(step_id, tool(account=1, cents=10))
    assert outcome.state == "confirmed"
    assert outcome.result == {"balance": 1010}
    assert bank.transfers() == 1


async def told_of_the_table(handle: StepHandle) -> bool:
    """Whether the step's record says that the table is missing."""
    return any(
        "surestep_actions" in line.text for record in await handle.records() for line in record.log
    )


async def test_a_step_waits_for_the_migration_and_then_completes(working, bank, step_id):
    bank.ask("DROP TABLE surestep_actions")
    tool = bank.tool()
    async with working(tool) as surestep:
        handle = await surestep.start(step_id, tool(account=1, cents=10))
        await eventually(lambda: told_of_the_table(handle))
        await bank.database.migrate()
        outcome = await handle.outcome()
    assert outcome.state == "confirmed"
    assert bank.transfers() == 1
