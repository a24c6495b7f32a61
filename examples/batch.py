"""A batch: every item is an action of one parallel step.

Three of five invoices fare badly: one loses its answer, one is told to come back later, one is
refused. Each is settled by itself; none of the others is sent again. Do not put a whole batch into
one action: of an answer that is lost, or of five results of which two are errors, nothing could be
repeated without repeating all.

    python examples/batch.py [month]        a second run of a month attaches, and sends nothing
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


class Invoice(BaseModel):
    customer: str
    cents: int


# The service ignores our key, but shows its invoices by it: each item is looked up by itself.
LOOKUP = Contract(
    effect=Effect.IRREVERSIBLE,
    in_flight=timedelta(seconds=2),
    visibility_lag=timedelta(0),
    timeout=timedelta(seconds=5),
)
invoice = Tool("invoice", Invoice, LOOKUP, recognise="customer")


@invoice.execute
async def _(args: Invoice, call: Call) -> Receipt:
    answer = await exchange("POST", service(), key=call.action_id, json=args.model_dump())
    return Receipt(id=answer.json()["id"])


@invoice.verify
async def _(args: Invoice, call: Call) -> Verification:
    answer = await exchange("GET", service(), params={"key": call.action_id})
    ours = [one for one in answer.json()["effects"] if one["key"] == call.action_id]
    return confirmed(matches=[Receipt(id=one["id"]) for one in ours]) if ours else not_found()


def service() -> str:
    return f"{os.environ['INVOICES_URL']}/lookup/effects"


async def send_all(surestep: Surestep, month: str, invoices: list[Invoice]) -> StepOutcome:
    """The pattern: one step, one action per item, named after the item and not after its place."""
    actions = [invoice.action(one).named(f"invoice-{one.customer}") for one in invoices]
    return await surestep.run(f"invoices/{month}", *actions, mode="parallel")


async def main(month: str) -> None:
    customers = ["ada", "bob", "cleo", "dan", "eve"]
    invoices = [Invoice(customer=name, cents=2500) for name in customers]
    with TemporaryDirectory() as folder:
        async with World.start(folder=Path(folder)) as world, Surestep.connect() as connected:
            os.environ["INVOICES_URL"] = world.url
            await world.fault(f"invoices/{month}/invoice-bob", write=["reply_lost"])
            await world.fault(f"invoices/{month}/invoice-cleo", write=["rate_limited:1"])
            await world.fault(f"invoices/{month}/invoice-dan", write=["refuse:422"])
            # A queue of its own: other workers here do not know these tools.
            surestep = Surestep(connected.client, task_queue="example-batch")
            tools, queue = Tools(invoice), surestep.task_queue
            async with build_worker(surestep.client, tools, task_queue=queue):
                outcome = await send_all(surestep, month, invoices)
            for one in outcome.actions:
                count = await world.count(one.action_id)
                print(f"{one.name:13} {one.state:10} {count} in the service's books")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:] or ["2030-06"]))
