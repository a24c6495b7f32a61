"""The tombstone under the key, against transactions that are still open on other connections."""

import asyncio

import pytest

from surestep import Refused
from surestep.evidence import Finding
from tests.postgresql.bank import Transfer, call

pytestmark = pytest.mark.xdist_group("postgresql")

TEN = Transfer(account=1, cents=10)


async def test_a_fenced_action_cannot_happen_any_more(bank):
    tool = bank.tool()
    for _ in range(2):
        assert (await tool.fence_with(TEN, call())).held
    with pytest.raises(Refused, match="fenced") as refused:
        await tool.execute_with(TEN, call())
    assert not refused.value.again
    assert bank.transfers() == 0
    assert (await tool.verify_with(TEN, call())).finding is Finding.NOT_FOUND


async def test_an_effect_that_is_there_is_not_fenced_but_returned(bank):
    tool = bank.tool()
    receipt = await tool.execute_with(TEN, call())
    fence = await tool.fence_with(TEN, call())
    assert not fence.held
    assert fence.exists == receipt


async def test_a_fence_waits_for_an_open_transaction_and_finds_its_effect(bank):
    at, until = asyncio.Event(), asyncio.Event()
    sending = asyncio.create_task(bank.held(at, until).execute_with(TEN, call()))
    await at.wait()
    fencing = asyncio.create_task(bank.tool().fence_with(TEN, call()))
    await bank.until(bank.waiting)
    assert not fencing.done()
    until.set()
    fence = await fencing
    assert not fence.held
    assert fence.exists == await sending
    assert bank.transfers() == 1


async def test_a_fence_waits_for_an_open_transaction_and_holds_when_it_is_rolled_back(bank):
    at, until = asyncio.Event(), asyncio.Event()
    sending = asyncio.create_task(bank.held(at, until).execute_with(TEN, call()))
    await at.wait()
    fencing = asyncio.create_task(bank.tool().fence_with(TEN, call()))
    await bank.until(bank.waiting)
    sending.cancel()
    assert (await fencing).held
    with pytest.raises(Refused, match="stopped; COMMIT was not sent"):
        await sending
    with pytest.raises(Refused, match="fenced"):
        await bank.tool().execute_with(TEN, call())
    assert bank.transfers() == 0


async def test_a_fence_that_cannot_wait_any_longer_has_not_held(bank):
    at, until = asyncio.Event(), asyncio.Event()
    sending = asyncio.create_task(bank.held(at, until).execute_with(TEN, call()))
    await at.wait()
    with pytest.raises(Refused, match="57014"):
        await bank.tool().fence_with(TEN, call(seconds=0.5))
    until.set()
    await sending
    assert bank.transfers() == 1


@pytest.mark.parametrize("rounds", range(5))
async def test_of_a_fence_and_ten_attempts_at_once_exactly_one_side_wins(bank, rounds):
    tool = bank.tool()
    attempts = [tool.execute_with(TEN, call()) for _ in range(10)]
    attempts.insert(rounds * 2, tool.fence_with(TEN, call()))
    ends = await asyncio.gather(*attempts, return_exceptions=True)
    fence = ends.pop(rounds * 2)
    assert bank.transfers() == (0 if fence.held else 1)
    assert all(isinstance(end, Refused) is fence.held for end in ends)


async def test_while_a_transaction_is_open_a_miss_proves_nothing(bank):
    at, until = asyncio.Event(), asyncio.Event()
    sending = asyncio.create_task(bank.held(at, until).execute_with(TEN, call()))
    await at.wait()
    seen = await bank.tool().verify_with(TEN, call())
    assert seen.finding is Finding.UNKNOWN
    assert "still open" in seen.why
    until.set()
    await sending
    assert (await bank.tool().verify_with(TEN, call())).finding is Finding.CONFIRMED


async def test_a_step_cancelled_while_its_commit_is_held_up_ends_with_a_fence(
    working, client, bank, proxy, step_id
):
    tool, proxy.fate = bank.tool(seconds=3), "hold"
    async with working(tool) as surestep:
        handle = await surestep.start(step_id, tool(account=1, cents=10))
        await proxy.reached.wait()
        await client.get_workflow_handle(step_id).cancel()
        outcome = await handle.outcome()
        proxy.release.set()
    assert outcome.state == "not_found"
    assert bank.ask("SELECT state FROM surestep_actions") == "fenced"
    assert bank.transfers() == 0
