"""A bank that ignores our key and shows a transfer an hour later, and until then another one."""

import os
from datetime import timedelta

from pydantic import BaseModel

from surestep import Call, Contract, Effect, Receipt, Tool, Verification, confirmed, unknown
from surestep.http import exchange

QUICK = timedelta(seconds=5)


class Transfer(BaseModel):
    invoice: str
    cents: int


transfer = Tool(
    "transfer",
    Transfer,
    Contract(
        effect=Effect.IRREVERSIBLE,
        timeout=2 * QUICK,
        look_first=False,
        patience=timedelta(seconds=0.1),
    ),
    recognise="invoice",
)


def bank() -> str:
    return f"{os.environ['WORLD_URL']}/bank/effects"


@transfer.execute
async def _(args: Transfer, call: Call) -> Receipt:
    answer = await exchange(
        "POST", bank(), key=call.action_id, json=args.model_dump(), within=QUICK
    )
    return Receipt(id=answer.json()["id"])


@transfer.verify
async def _(args: Transfer, call: Call) -> Verification:
    answer = await exchange("GET", bank(), params={"key": call.action_id}, within=QUICK)
    shown = answer.json()["effects"]
    ours = [Receipt(id=one["id"]) for one in shown if one["key"] == call.action_id]
    if ours:
        return confirmed(matches=ours)
    others = ", ".join(one["id"] for one in shown)
    return unknown(f"transfers of the same amount without our reference: {others or 'none'}")
