"""The tools of the demo, as a user writes them: one for each kind of service there is."""

import os
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from surestep import (
    Accepted,
    Call,
    Contract,
    Effect,
    KeySupport,
    Receipt,
    Tool,
    Verification,
    confirmed,
    not_found,
    pending,
    rejected,
)
from surestep.http import exchange

SERVICE = "BILLING_URL"
"""Names the variable with the base URL. Surestep's own prefix is for Surestep's settings only."""

GIVES_UP = timedelta(seconds=1.5)  # short, so that nobody waits long for a demo
ATTEMPT = timedelta(seconds=3)  # longer, so that it is the client who gives up


class Charge(BaseModel):
    order: str
    cents: int


charge = Tool(
    "charge",
    Charge,
    Contract(
        effect=Effect.IRREVERSIBLE,
        key=KeySupport(lifetime=timedelta(hours=24)),
        in_flight=timedelta(seconds=10),
        visibility_lag=timedelta(0),
        timeout=ATTEMPT,
    ),
    recognise="order",
)


@charge.execute
async def _(args: Charge, call: Call) -> Receipt:
    answer = await exchange(
        "POST", at("keyed"), key=call.action_id, json=args.model_dump(), within=GIVES_UP
    )
    return receipt(answer.json())


@charge.verify
async def _(args: Charge, call: Call) -> Verification:
    answer = await exchange("GET", at("keyed"), params={"key": call.action_id}, within=GIVES_UP)
    return found(answer.json()["effects"])


class Invoice(BaseModel):
    customer: str
    cents: int


invoice = Tool(
    "invoice",
    Invoice,
    Contract(
        effect=Effect.IRREVERSIBLE,
        in_flight=timedelta(seconds=4),  # no key, so only time and lookups can tell
        visibility_lag=timedelta(seconds=2.5),
        timeout=ATTEMPT,
    ),
    recognise="customer",
)


@invoice.execute
async def _(args: Invoice, call: Call) -> Receipt:
    answer = await exchange(
        "POST", at("lagging"), key=call.action_id, json=args.model_dump(), within=GIVES_UP
    )
    return receipt(answer.json())


@invoice.verify
async def _(args: Invoice, call: Call) -> Verification:
    answer = await exchange("GET", at("lagging"), params={"key": call.action_id}, within=GIVES_UP)
    return found(answer.json()["effects"])


class Payout(BaseModel):
    seller: str
    cents: int


payout = Tool(
    "payout",
    Payout,
    Contract(
        effect=Effect.IRREVERSIBLE,
        in_flight=timedelta(seconds=4),
        visibility_lag=timedelta(0),
        response_proves=False,  # a 202 says that it will be done, not that it was
        completes_within=timedelta(seconds=20),
        timeout=ATTEMPT,
    ),
    recognise="seller",
)


@payout.execute
async def _(args: Payout, call: Call) -> Accepted:
    answer = await exchange(
        "POST", at("asynchronous"), key=call.action_id, json=args.model_dump(), within=GIVES_UP
    )
    operation = answer.json()
    return Accepted(receipt=Receipt(id=operation["operation"], status=operation["status"]))


@payout.verify
async def _(args: Payout, call: Call) -> Verification:
    answer = await exchange(
        "GET", at("asynchronous"), params={"key": call.action_id}, within=GIVES_UP
    )
    match answer.json()["effects"]:
        case [{"status": "pending"} as payout]:
            return pending("the payout is queued", receipt(payout))
        case [{"status": "failed"} as payout]:
            return rejected("the payout failed", receipt(payout))
        case payouts:
            return found(payouts)


class Letter(BaseModel):
    customer: str
    text: str


letter = Tool(
    "letter",
    Letter,
    Contract(
        effect=Effect.IRREVERSIBLE,
        in_flight=timedelta(seconds=2),
        timeout=ATTEMPT,
        ask=True,  # no key and no lookup: every ambiguity goes to a human
    ),
    recognise="customer",
)


@letter.execute
async def _(args: Letter, call: Call) -> Receipt:
    answer = await exchange(
        "POST", at("blind"), key=call.action_id, json=args.model_dump(), within=GIVES_UP
    )
    return receipt(answer.json())


tools = [charge, invoice, payout, letter]


def at(service: str) -> str:
    """The address is read when it is needed: a tool can be described without any service."""
    return f"{os.environ[SERVICE]}/{service}/effects"


def found(effects: list[Any]) -> Verification:
    """Every match counts: two of them are a duplicate, and Surestep reports it."""
    return confirmed(matches=[receipt(one) for one in effects]) if effects else not_found()


def receipt(effect: Any) -> Receipt:
    return Receipt(id=effect["id"], status=effect["status"], at=effect["at"])
