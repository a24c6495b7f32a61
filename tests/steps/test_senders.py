"""Attempts that outlive what is concluded about them, and answers that hardly can be recorded."""

import asyncio
from datetime import timedelta

import pytest
from pydantic import BaseModel

from surestep import (
    Ambiguous,
    Contract,
    Effect,
    NotSent,
    Receipt,
    Refused,
    State,
    Tool,
    confirmed,
    not_found,
)
from tests.steps import facts
from tests.steps.operators import reset_to
from tests.waiting import eventually

SECOND = timedelta(seconds=1)
LIMIT = timedelta(seconds=40)
BLIND = Contract(effect=Effect.IRREVERSIBLE, ask=True)
PROMPT = Contract(
    effect=Effect.IRREVERSIBLE, in_flight=SECOND, visibility_lag=0 * SECOND, timeout=8 * SECOND
)


class Nothing(BaseModel):
    pass


class Shop:
    """A service in this process. `before` is awaited between the mark and the effect."""

    def __init__(self) -> None:
        self.effects: list[str] = []
        self.undone: list[str] = []
        self.calls = 0

    def tool(self, name, contract, *, before=None, receipt=None, undo=False) -> Tool:
        tool = Tool(name, Nothing, contract)

        @tool.execute
        async def _(args, call):
            self.calls += 1
            if before:
                await before(self.calls)
            self.effects.append(call.action_id)
            return receipt or Receipt(id=f"effect-{len(self.effects)}")

        if not contract.ask:

            @tool.verify
            async def _(args, call):
                return confirmed() if call.action_id in self.effects else not_found()

        if undo:

            @tool.compensate
            async def _(args, call):
                self.undone.append(call.action_id)
                return Receipt(id="undone")

        return tool


async def test_an_attempt_may_take_longer_than_a_lost_worker_would(working, step_id):
    shop = Shop()
    slow = shop.tool("slow", BLIND, before=lambda _: asyncio.sleep(17))
    async with working(slow) as surestep:
        outcome = await surestep.run(step_id, slow(), within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert len(shop.effects) == 1


@pytest.mark.parametrize("ended", ["reset", "terminated"])
async def test_a_sender_that_outlives_its_run_is_waited_for(ended, working, client, step_id):
    shop = Shop()
    slow = shop.tool("slow", PROMPT, before=lambda call: asyncio.sleep(4 if call == 1 else 0))
    async with working(slow) as surestep:
        await surestep.start(step_id, slow())
        await eventually(lambda: _reached(shop, 1))
        if ended == "reset":
            await reset_to(client, step_id, 0)
        else:
            await client.get_workflow_handle(step_id).terminate("an operator's button")
        outcome = await surestep.run(step_id, slow(), within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert shop.effects == [f"{step_id}/slow"]


async def test_an_undo_is_planned_with_its_action_whatever_the_worker_knows_later(working, step_id):
    shop, sold_out = Shop(), asyncio.Event()

    async def refuses(_: int) -> None:
        raise Refused("sold out") if sold_out.is_set() else NotSent("not open yet")

    book = Shop().tool("book", BLIND, before=refuses)
    pay, pay_of_old = shop.tool("pay", BLIND, undo=True), shop.tool("pay", BLIND)
    async with working(pay, book) as surestep:
        await surestep.start(step_id, pay(), book(), undo_on_failure=True)
        await eventually(lambda: _reached(shop, 1))
    sold_out.set()
    async with working(pay_of_old, book) as surestep:
        await eventually(lambda: _told(surestep, step_id, "pay.undo"))
    async with working(pay, book) as surestep:
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome["pay"].state is State.COMPENSATED
    assert (len(shop.effects), len(shop.undone)) == (1, 1)


async def test_a_renewal_undoes_nothing_that_succeeded(working, client, step_id, monkeypatch):
    monkeypatch.setattr("workflows.settling.EVENTS_LIMIT", 100)
    shop, is_open = Shop(), asyncio.Event()

    async def opens(_: int) -> None:
        if not is_open.is_set():
            raise NotSent("not open yet")

    pay, book = shop.tool("pay", BLIND, undo=True), Shop().tool("book", BLIND, before=opens)
    async with working(pay, book) as surestep:
        await surestep.start(step_id, pay(), book(), undo_on_failure=True)
        await eventually(lambda: _reached(shop, 1))
        step = client.get_workflow_handle(step_id)
        first = (await step.describe()).run_id
        await asyncio.gather(*(step.signal("decide", "junk") for _ in range(120)))
        await eventually(lambda: _renewed(step, first), within=40)
        is_open.set()
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert shop.undone == []


async def test_a_cancel_that_meets_the_end_does_not_lose_the_verdict(working, client, step_id):
    async def loses(_: int) -> None:
        raise Ambiguous("lost")

    hasty = Shop().tool("hasty", Contract(effect=Effect.IRREVERSIBLE), before=loses)
    async with working(hasty) as surestep:
        await surestep.start(step_id, hasty())
        version = (await facts.looked(surestep, step_id, times=1)).version
    step = client.get_workflow_handle(step_id)
    await step.signal("decide", {"verdict": "abandon", "by": "ops", "version": version})
    await step.cancel()
    async with working(hasty) as surestep:
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.NOT_FOUND


@pytest.mark.parametrize(
    "receipt",
    [
        Receipt.model_construct(result={"note": "caf\ud83d"}),
        Receipt.model_construct(id="x\ud83d"),
        Receipt.model_construct(id="x" * 3_000_000, status="y" * 3_000_000),
        Receipt.model_construct(result={"rate": float("nan")}),
        Receipt.model_construct(result=object()),
    ],
    ids=["surrogate", "surrogate in the id", "huge id", "not a number", "no JSON"],
)
async def test_an_odd_answer_does_not_turn_a_success_into_a_doubt(receipt, working, step_id):
    shop = Shop()
    odd = shop.tool("odd", BLIND, receipt=receipt)
    async with working(odd) as surestep:
        outcome = await surestep.run(step_id, odd(), within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert len(outcome.model_dump_json()) < 10_000


async def _reached(shop: Shop, calls: int) -> bool:
    return shop.calls >= calls


async def _renewed(step, first: str) -> bool:
    return (await step.describe()).run_id != first


async def _told(surestep, step_id: str, words: str) -> bool:
    records = await surestep.handle(step_id).records()
    return any(words in line.text for record in records for line in record.log)
