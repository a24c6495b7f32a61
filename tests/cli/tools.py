"""Tools for the command line's tests; they act on a post office in this process."""

from datetime import timedelta

from pydantic import BaseModel

from surestep import (
    Ambiguous,
    ApprovalRule,
    Call,
    Contract,
    Effect,
    NotSent,
    Receipt,
    Refused,
    Tool,
    Verification,
    confirmed,
    not_found,
    unknown,
)

posted: list[str] = []
"""The world: the key of every letter that was posted."""

found_later: set[str] = set()
"""Keys of parcels that a look finds although none was there before."""

unreachable: dict[str, timedelta] = {}
"""Keys under which nothing can be sent for so long."""


class Letter(BaseModel):
    to: str
    fate: str = "arrives"


letter = Tool("letter", Letter, Contract(effect=Effect.IRREVERSIBLE, ask=True), recognise="to")


@letter.execute
async def _(args: Letter, call: Call) -> Receipt:
    if args.fate == "refused":
        raise Refused(f"nobody is called {args.to}")
    posted.append(call.action_id)
    if args.fate == "lost":
        raise Ambiguous("the answer was lost")
    return Receipt(id=f"L-{args.to}", status="posted", result={"stamps": 2})


def lost_by(name: str) -> Tool:
    """A tool whose answers are always lost, and whose effects are only found by later looks."""
    tool = Tool(
        name,
        Letter,
        Contract(
            effect=Effect.REVERSIBLE,
            in_flight=timedelta(0),
            visibility_lag=timedelta(0),
            sends=1,
            look_first=False,
        ),
    )

    @tool.execute
    async def _(args: Letter, call: Call) -> Receipt:
        raise Ambiguous("the answer was lost")

    @tool.verify
    async def _(args: Letter, call: Call) -> Verification:
        if args.fate == "twice":
            return confirmed(matches=[Receipt(id="P-1"), Receipt(id="P-2")])
        return confirmed(Receipt(id="P-3")) if call.action_id in found_later else not_found()

    return tool


parcel = lost_by("parcel")
tools = [letter, parcel]


class Payment(BaseModel):
    to: str
    cents: int = 2500


def payment_by(name: str, **rule: timedelta) -> Tool:
    """A tool that pays once a person has approved it."""
    tool = Tool(
        name,
        Payment,
        Contract(effect=Effect.IRREVERSIBLE, ask=True, approval=ApprovalRule(**rule)),
        recognise="to",
    )

    @tool.execute
    async def _(args: Payment, call: Call) -> Receipt:
        if call.action_id in unreachable:
            raise NotSent("the bank is closed", retry_after=unreachable[call.action_id])
        posted.append(call.action_id)
        return Receipt(id=f"P-{args.to}")

    return tool


payment = payment_by("payment")
expiring = payment_by("expiring", expires=timedelta(seconds=1))
forgetful = payment_by("forgetful", valid=timedelta(seconds=2))


ferry = Tool(
    "ferry",
    Letter,
    Contract(effect=Effect.IRREVERSIBLE, look_first=False, patience=timedelta(milliseconds=100)),
)


@ferry.execute
async def _(args: Letter, call: Call) -> Receipt:
    posted.append(call.action_id)
    raise Ambiguous("the answer was lost")


@ferry.verify
async def _(args: Letter, call: Call) -> Verification:
    return unknown("the lookup answers 503")


booking = Tool("booking", Letter, Contract(effect=Effect.REVERSIBLE, ask=True))


@booking.execute
async def _(args: Letter, call: Call) -> Receipt:
    posted.append(call.action_id)
    return Receipt(id="B-1")


@booking.compensate
async def _(args: Letter, call: Call) -> Receipt:
    posted.append(call.action_id)
    return Receipt(id="B-1 cancelled")


crate = lost_by("crate")


@crate.compensate
async def _(args: Letter, call: Call) -> Receipt:
    posted.append(call.action_id)
    return Receipt(id="P-3 returned")


others = [crate, payment, expiring, forgetful, ferry, booking]
"""What the worker serves beside `tools`."""
