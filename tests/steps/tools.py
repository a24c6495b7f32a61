"""Tools as users write them, careful ones and naive ones, for the services of the world.

They find the world through WORLD_URL, so that workers in other processes can use them as well.
"""

import os
from datetime import timedelta

import httpx
from pydantic import BaseModel

from surestep import (
    Accepted,
    Ambiguous,
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
    unknown,
)
from surestep.http import exchange


class Charge(BaseModel):
    order: str
    cents: int


# Longer in tests that need time to kill a worker while a request is under way.
QUICK = timedelta(seconds=float(os.environ.get("TOOL_SECONDS", "1.5")))
IMPATIENT = timedelta(seconds=1)
KEYED = KeySupport(lifetime=timedelta(hours=24))


def service(name: str) -> str:
    return f"{os.environ['WORLD_URL']}/{name}/effects"


async def send(name: str, args: Charge, call: Call) -> Receipt | Accepted:
    """One POST, classified by surestep.http."""
    answer = await exchange(
        "POST", service(name), key=call.action_id, json=args.model_dump(), within=QUICK
    )
    body = answer.json() if answer.content else {}
    if answer.status_code == 202:
        return Accepted(receipt=Receipt(id=body["operation"]))
    if "id" not in body:
        raise Ambiguous("a success answer without an id")
    return Receipt(id=body["id"], result=body)


async def look(name: str, args: Charge, call: Call) -> Verification:
    answer = await exchange("GET", service(name), params={"key": call.action_id}, within=QUICK)
    body = answer.json()
    if "effects" not in body:
        return unknown("the answer has no list of effects")
    ours = [effect for effect in body["effects"] if effect["key"] == call.action_id]
    if not ours:
        return not_found()
    if ours[0]["status"] == "pending":
        return pending("the service works on it")
    if ours[0]["status"] == "failed":
        return rejected("the service says it failed")
    differs = [
        name for name, value in args.model_dump().items() if ours[0]["body"].get(name) != value
    ]
    return confirmed(
        matches=[Receipt(id=effect["id"], result=effect) for effect in ours], differs=differs
    )


def careful(name: str, at: str, **promised: object) -> Tool:
    """A tool for the world's service `at`, with what its contract promises."""
    looks = bool(promised.pop("looks", True))
    contract = Contract(effect=Effect.IRREVERSIBLE, timeout=2 * QUICK, **promised)  # type: ignore[arg-type]
    tool = Tool(name, Charge, contract, recognise="order")

    @tool.execute
    async def _(args: Charge, call: Call) -> Receipt | Accepted:
        return await send(at, args, call)

    if looks:

        @tool.verify
        async def _(args: Charge, call: Call) -> Verification:
            return await look(at, args, call)

    return tool


def naive(name: str, at: str) -> Tool:
    """Written in a hurry: httpx raises what it likes, and a miss is called `not_found`.

    `verify=False` only spares the tests the loading of certificates for every request.
    """
    contract = Contract(effect=Effect.IRREVERSIBLE, timeout=2 * QUICK, patience=IMPATIENT)
    tool = Tool(name, Charge, contract)

    @tool.execute
    async def _(args: Charge, call: Call) -> Receipt:
        async with httpx.AsyncClient(timeout=QUICK.total_seconds(), verify=False) as http:
            headers = {"Idempotency-Key": call.action_id}
            answer = await http.post(service(at), json=args.model_dump(), headers=headers)
            answer.raise_for_status()
            return Receipt(id=answer.json()["id"])

    @tool.verify
    async def _(args: Charge, call: Call) -> Verification:
        async with httpx.AsyncClient(timeout=QUICK.total_seconds(), verify=False) as http:
            answer = await http.get(service(at), params={"key": call.action_id})
            found = [one for one in answer.json()["effects"] if one["status"] == "succeeded"]
            return confirmed(Receipt(id=found[0]["id"])) if found else not_found()

    return tool


def reversible(name: str, at: str, *, looks: bool = True) -> Tool:
    """Its effects can be voided, and an effect that was voided still shows."""
    tool = careful(name, at, **PROMPT)

    @tool.compensate
    async def _(args: Charge, call: Call) -> Receipt:
        assert call.receipt
        place = f"{service(at)}/{call.receipt.id}"
        answer = await exchange("DELETE", place, key=call.action_id, within=QUICK)
        return Receipt(id=call.receipt.id, status=answer.json()["status"])

    if looks:

        @tool.verify_compensation
        async def _(args: Charge, call: Call) -> Verification:
            assert call.receipt
            answer = await exchange("GET", f"{service(at)}/{call.receipt.id}", within=QUICK)
            return confirmed(call.receipt) if answer.json()["status"] == "voided" else not_found()

    return tool


PROMPT = {"in_flight": timedelta(seconds=2), "visibility_lag": timedelta(0)}

keyed = careful("keyed", "keyed", key=KEYED, **PROMPT)
keyed_blind = careful("keyed_blind", "keyed_blind", key=KEYED, looks=False)
lookup = careful("lookup", "lookup", **PROMPT)
blind = careful("blind", "blind", looks=False, ask=True)
asynchronous = careful("asynchronous", "asynchronous", response_proves=False, patience=IMPATIENT)
hasty = naive("hasty", "lookup")
undoable = reversible("undoable", "lookup")
undone_blindly = reversible("undone_blindly", "lookup", looks=False)

tools = [keyed, keyed_blind, lookup, blind, asynchronous, hasty, undoable, undone_blindly]
