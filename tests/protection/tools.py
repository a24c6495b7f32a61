"""Tools that do their worst with what they are given, for a service that repeats it."""

import asyncio
import logging
from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, field_validator

from surestep import (
    Ambiguous,
    ApprovalRule,
    Call,
    Contract,
    Effect,
    Personal,
    Receipt,
    Refused,
    Secret,
    Tool,
    Verification,
    unknown,
)
from surestep.http import HttpTool, Lookup, Operations, Request, Service, Shape, bearer, env


class Customer(BaseModel):
    email: Annotated[str, Personal()]
    name: Annotated[str, Personal()] = ""


class Payment(BaseModel):
    order: str
    email: Annotated[str, Personal()]
    note: str = ""
    customers: list[Customer] = []
    token: Annotated[str, Secret("billing-token", "no-such-token")] = "billing-token"

    @field_validator("email")
    @classmethod
    def _is_address(cls, email: str) -> str:
        if "@" not in email:
            raise ValueError(f"{email} is no address")
        return email


INSTANT = timedelta(milliseconds=1)
BLIND = Contract(effect=Effect.IRREVERSIBLE, ask=True, patience=INSTANT)
service = Service(env("ECHO_URL"), bearer(env("ECHO_CREDENTIAL")))


def http(name: str, path: str, contract: Contract = BLIND, **more: object) -> HttpTool:
    request = Request(
        "POST", path, {"email": "{email}", "note": "{note}"}, headers={"X-Token": "{token}"}
    )
    return HttpTool(
        name, Payment, contract, service=service, request=request, recognise="order", **more
    )


answered = http("answered", "/answered", shape=Shape(status="/status", result="/said"))
refused = http("refused", "/refused/{email}")
moved = http("moved", "/moved")
stumbled = http(
    "stumbled",
    "/stumbled",
    Contract(effect=Effect.IRREVERSIBLE, patience=INSTANT),
    lookup=Lookup("/stumbled", {"key": "{call.key}", "email": "{email}"}, items="/effects"),
)
accepted = http(
    "accepted",
    "/accepted",
    Contract(effect=Effect.IRREVERSIBLE, response_proves=False),
    operations=Operations(),
)

hostile = Tool("hostile", Payment, BLIND, recognise="order")
MANNERS = ("surprise", "group", "exit", "refusal", "doubt", "task")


@hostile.execute
async def _(args: Payment, call: Call) -> Receipt:
    said = f"{args.token} {args.email} {[one.name for one in args.customers]} {args!r} {args.note}"
    surprise = ValueError(said)
    surprise.add_note(said)
    try:
        raise surprise
    except ValueError as error:
        match args.order:
            case "surprise":
                raise RuntimeError(said) from error
            case "group":
                raise BaseExceptionGroup(said, [error, KeyboardInterrupt(said)]) from error
            case "exit":
                raise SystemExit(said) from error
            case "refusal":
                raise Refused(said) from error
            case "task":
                asyncio.create_task(_fails(said)).set_name("stray")
                await asyncio.sleep(0)
                raise Refused("it left a task behind") from error
            case _:
                raise Ambiguous(said) from error


async def _fails(said: str) -> None:
    raise OSError(said)


looking = Tool("looking", Payment, Contract(effect=Effect.IRREVERSIBLE, patience=INSTANT))


@looking.execute
async def _(args: Payment, call: Call) -> Receipt:
    raise TimeoutError(args.email)


@looking.verify
async def _(args: Payment, call: Call) -> Verification:
    said = f"{args.token} {args.email}"
    if args.order == "raises":
        raise LookupError(said)
    return unknown(f"it says {said} {args.note}", holds=[said], missing=[said])


approving = Tool("approving", Payment, BLIND.model_copy(update={"approval": ApprovalRule()}))


@approving.execute
async def _(args: Payment, call: Call) -> Receipt:
    return Receipt(id=args.email, result={"token": args.token})


@approving.approve_if
def _(args: Payment) -> bool:
    if args.order == "raises":
        raise LookupError(args.email)
    logging.getLogger("surestep").debug("asked")
    return True


tools = [answered, refused, moved, stumbled, accepted, hostile, looking, approving]
