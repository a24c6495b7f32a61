"""Tools for the command line's tests; they act on a post office in this process."""

from datetime import timedelta

from pydantic import BaseModel

from surestep import (
    Ambiguous,
    Call,
    Contract,
    Effect,
    Receipt,
    Refused,
    Tool,
    Verification,
    confirmed,
    not_found,
)

posted: list[str] = []
"""The world: the key of every letter that was posted."""

found_later: set[str] = set()
"""Keys of parcels that a look finds although none was there before."""


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


parcel = Tool(
    "parcel",
    Letter,
    Contract(
        effect=Effect.IRREVERSIBLE,
        in_flight=timedelta(0),
        visibility_lag=timedelta(0),
        sends=1,
        look_first=False,
    ),
)


@parcel.execute
async def _(args: Letter, call: Call) -> Receipt:
    raise Ambiguous("the answer was lost")


@parcel.verify
async def _(args: Letter, call: Call) -> Verification:
    if args.fate == "twice":
        return confirmed(matches=[Receipt(id="P-1"), Receipt(id="P-2")])
    return confirmed(Receipt(id="P-3")) if call.action_id in found_later else not_found()


tools = [letter, parcel]
