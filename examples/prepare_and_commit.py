"""Two steps of one service: prepare, which only reads, and commit, which writes.

They are two actions of one sequential step, because they fail differently. A lost answer to the
first means nothing, so it is asked again without a thought; a lost answer to the second may hide an
effect, so it is looked up before anything else. Declared as one action, every time-out of the
harmless half would be a question to a human.

    python examples/prepare_and_commit.py [order]   a second run of an order sends nothing
"""

import asyncio
import os
import sys
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import BaseModel

from surestep import (
    Call,
    Contract,
    Effect,
    Receipt,
    Refused,
    StepOutcome,
    Surestep,
    Tool,
    Tools,
    Verification,
    confirmed,
    not_found,
)
from surestep.http import exchange
from surestep.testing import World
from worker import build_worker


class Order(BaseModel):
    order: str
    cents: int


prepare = Tool("prepare", Order, Contract(effect=Effect.READ, timeout=timedelta(seconds=2)))


@prepare.execute
async def _(args: Order, call: Call) -> Receipt:
    """Refused here means that the commit never starts."""
    answer = await exchange("GET", service(), params={"key": call.action_id})
    if args.cents > 100_000:
        raise Refused("over the limit of 1000.00: ask for less")
    return Receipt(status="payable", result={"known": len(answer.json()["effects"])})


LOOKUP = Contract(
    effect=Effect.IRREVERSIBLE,
    in_flight=timedelta(seconds=2),
    visibility_lag=timedelta(0),
    timeout=timedelta(seconds=5),
)
commit = Tool("commit", Order, LOOKUP, recognise="order")


@commit.execute
async def _(args: Order, call: Call) -> Receipt:
    answer = await exchange("POST", service(), key=call.action_id, json=args.model_dump())
    return Receipt(id=answer.json()["id"])


@commit.verify
async def _(args: Order, call: Call) -> Verification:
    answer = await exchange("GET", service(), params={"key": call.action_id})
    ours = [one for one in answer.json()["effects"] if one["key"] == call.action_id]
    return confirmed(matches=[Receipt(id=one["id"]) for one in ours]) if ours else not_found()


def service() -> str:
    return f"{os.environ['PAYMENTS_URL']}/lookup/effects"


async def pay(surestep: Surestep, order: str, cents: int) -> StepOutcome:
    """The pattern: both carry the same reference, so the second needs no answer of the first.

    Where the service hands out a token that the second call must carry, they are two steps: the
    agent makes the second from the first one's outcome.
    """
    both = {"order": order, "cents": cents}
    return await surestep.run(f"pay/{order}", prepare(**both), commit(**both))


async def main(order: str) -> None:
    with TemporaryDirectory() as folder:
        async with World.start(folder=Path(folder)) as world, Surestep.connect() as connected:
            os.environ["PAYMENTS_URL"] = world.url
            await world.fault(f"pay/{order}/prepare", lookup=["reset", "hang"])
            await world.fault(f"pay/{order}/commit", write=["reply_lost"])
            # A queue of its own: other workers here do not know these tools.
            surestep = Surestep(connected.client, task_queue="example-payments")
            tools, queue = Tools(prepare, commit), surestep.task_queue
            async with build_worker(surestep.client, tools, task_queue=queue):
                outcomes = [
                    await pay(surestep, order, 2500),
                    await pay(surestep, f"{order}b", 10**6),
                ]
            for outcome in outcomes:
                for one in outcome.actions:
                    asked = await world.requests(one.action_id)
                    methods = " ".join(request.method for request in asked)
                    count = await world.count(one.action_id)
                    print(f"{one.action_id:18} {one.state:10} {count} effects   {methods}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:] or ["o-7"]))
