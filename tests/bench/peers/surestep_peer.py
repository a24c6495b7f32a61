"""Surestep under the same orders, client and worker in one process."""

import asyncio
import logging
import os
import sys
from datetime import timedelta

from pydantic import BaseModel

from surestep import (
    Action,
    Call,
    Contract,
    Effect,
    KeySupport,
    Receipt,
    Surestep,
    Tool,
    Tools,
    Verification,
    confirmed,
    not_found,
)
from surestep.connection import connection
from surestep.evidence import State
from surestep.settings import Settings
from tests.bench.peers.protocol import charged, found, serve
from worker import build_worker

QUEUE = "peer"


class Charge(BaseModel):
    url: str


def _tool(name: str, key: KeySupport | None) -> Tool:
    contract = Contract(
        effect=Effect.IRREVERSIBLE,
        key=key,
        in_flight=timedelta(seconds=5),
        visibility_lag=timedelta(0),
        timeout=timedelta(seconds=10),
    )
    made = Tool(name, Charge, contract)

    @made.execute
    async def _(args: Charge, call: Call) -> Receipt:
        return Receipt(id=await charged(args.url, call.action_id))

    @made.verify
    async def _(args: Charge, call: Call) -> Verification:
        ids = await found(args.url, call.action_id)
        return confirmed(matches=[Receipt(id=one) for one in ids]) if ids else not_found()

    return made


async def main(address: str) -> None:
    logging.getLogger("temporalio").setLevel(logging.ERROR)
    os.environ["TEMPORAL_ADDRESS"] = address
    keyed = _tool("keyed", KeySupport(lifetime=timedelta(hours=24)))
    lookup = _tool("lookup", None)
    async with connection(Settings(task_queue=QUEUE)) as made:
        surestep = Surestep(made.client, task_queue=QUEUE)

        async def perform(url: str, key: str) -> str:
            tool = keyed if url.endswith("/keyed") else lookup
            step_id, _, name = key.rpartition("/")
            action: Action = tool(url=url).model_copy(update={"name": name})
            outcome = await surestep.run(step_id, action)
            assert outcome.state is State.CONFIRMED, outcome
            return str(outcome.worst.receipt.id if outcome.worst.receipt else "")

        async with build_worker(made.client, Tools(keyed, lookup), task_queue=QUEUE):
            await serve(perform)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
