"""Tools of a service that answers, loses, or holds; it is at SERVICE_URL."""

import os
from datetime import timedelta

from pydantic import BaseModel

from surestep import Call, Contract, Effect, KeySupport, Receipt, Tool, Verification, not_found
from surestep.http import exchange


class Letter(BaseModel):
    order: str
    text: str = ""


def at(path: str) -> str:
    return f"{os.environ['SERVICE_URL']}/{path}"


async def send(path: str, args: Letter, call: Call) -> Receipt:
    answer = await exchange("POST", at(path), key=call.action_id, json=args.model_dump())
    return Receipt(id=answer.json()["id"])


letter = Tool(
    "letter",
    Letter,
    Contract(effect=Effect.IRREVERSIBLE, key=KeySupport(lifetime=timedelta(days=1))),
)


@letter.execute
async def _(args: Letter, call: Call) -> Receipt:
    return await send("letters", args, call)


# Its answer is lost, and its lookup cannot tell: it ends with a person, at once overdue.
parcel = Tool(
    "parcel",
    Letter,
    Contract(
        effect=Effect.IRREVERSIBLE,
        patience=timedelta(seconds=0.1),
        overdue_after=timedelta(0),
        look_first=False,
    ),
)


@parcel.execute
async def _(args: Letter, call: Call) -> Receipt:
    return await send("lost", args, call)


@parcel.verify
async def _(args: Letter, call: Call) -> Verification:
    await exchange("GET", at("broken"), params={"key": call.action_id})
    return not_found()


# Its look before the send takes as long as the test wants.
slow = Tool("slow", Letter, Contract(effect=Effect.IRREVERSIBLE))


@slow.execute
async def _(args: Letter, call: Call) -> Receipt:
    return await send("letters", args, call)


@slow.verify
async def _(args: Letter, call: Call) -> Verification:
    await exchange("GET", at("held"), params={"key": call.action_id})
    return not_found()


tools = [letter, parcel, slow]
