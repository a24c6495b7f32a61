"""Effects whose success is an absence: what was seen before the first send tells which it was."""

from datetime import timedelta

import pytest
from pydantic import BaseModel

from surestep import (
    Ambiguous,
    Contract,
    Effect,
    Receipt,
    State,
    Tool,
    Verification,
    confirmed,
    not_found,
)

PROMPT = Contract(
    effect=Effect.IRREVERSIBLE, in_flight=timedelta(seconds=1), visibility_lag=timedelta(0)
)


class Removal(BaseModel):
    order: str


class Register:
    """Orders in this process; a removal is applied, and its answer lost."""

    def __init__(self, *orders: str) -> None:
        self.orders = set(orders)
        self.requests = 0

    def tool(self) -> Tool:
        remove = Tool("remove", Removal, PROMPT)

        @remove.execute
        async def _(args, call) -> Receipt:
            self.requests += 1
            self.orders.discard(args.order)
            raise Ambiguous("the answer was lost")

        @remove.verify
        async def _(args, call) -> Verification:
            if args.order in self.orders:
                return not_found()
            was_there = call.before is not None
            return confirmed(Receipt(status="removed" if was_there else "was already absent"))

        return remove


@pytest.mark.parametrize(
    ("orders", "said", "requests"),
    [(("o-1",), "removed", 1), ((), "was already absent", 0)],
    ids=["it was there", "it never was"],
)
async def test_a_removal_knows_whether_there_was_something_to_remove(
    orders, said, requests, working, step_id
):
    register = Register(*orders)
    remove = register.tool()
    async with working(remove) as surestep:
        outcome = await surestep.run(step_id, remove(order="o-1"), within=timedelta(seconds=30))
    assert outcome.state is State.CONFIRMED
    assert outcome.actions[0].receipt.status == said
    assert register.requests == requests
