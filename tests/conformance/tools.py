"""Tools for the sandbox at SERVICE_URL: declared ones, and naive ones that believe everything."""

import os
from datetime import timedelta

import httpx
from pydantic import BaseModel

from surestep import Contract, Effect, KeySupport, Receipt, Tool, confirmed, not_found
from surestep.http import (
    FenceRequest,
    HttpTool,
    Lookup,
    Operations,
    Request,
    Service,
    Shape,
    States,
    Undo,
    UndoLookup,
    env,
)

DAY = KeySupport(lifetime=timedelta(hours=24))
AT_ONCE = timedelta(0)
SERVICE = Service(env("SERVICE_URL"))
SHOWN = Shape(states=States(succeeded=frozenset({"succeeded", "voided"})))


class Charge(BaseModel):
    order: str
    cents: int


def contract(**promised):
    given = {"effect": Effect.IRREVERSIBLE, "timeout": timedelta(seconds=5)} | promised
    return Contract(**given)


def lookup(at, **options):
    same = {"order": "/body/order", "cents": "/body/cents"}
    return Lookup(f"/{at}/effects", {"key": "{call.key}"}, items="/effects", same=same, **options)


def tool(at, *, looks=True, parts=None, **promised):
    """A declared tool for the service `at`; `parts` are parts of an HttpTool."""
    parts = {"lookup": lookup(at, shape=SHOWN) if looks else None} | (parts or {})
    parts |= {"service": SERVICE, "request": Request("POST", f"/{at}/effects")}
    return HttpTool("charge", Charge, contract(**promised), **parts)


def undo(at):
    return Undo(
        Request("DELETE", f"/{at}/effects/{{call.receipt.id}}"),
        shape=Shape(success={"/status": "voided"}),
        lookup=UndoLookup(f"/{at}/effects/{{call.receipt.id}}", undone={"/status": "voided"}),
    )


def fence(at):
    return FenceRequest(
        Request("POST", f"/{at}/fences", body={"key": "{call.key}"}),
        held={"/fenced": True},
        exists="/effect",
    )


keyed = tool("keyed", key=DAY, visibility_lag=AT_ONCE, in_flight=timedelta(seconds=2))
keyed_undoable = tool("keyed", key=DAY, visibility_lag=AT_ONCE, parts={"undo": undo("keyed")})
keyed_blind = tool("keyed_blind", looks=False, key=DAY)
lagging = tool("lagging", visibility_lag=timedelta(seconds=2), parts={"undo": undo("lagging")})
queued = tool("queued", key=DAY, response_proves=False, parts={"operations": Operations()})
fenced = tool("fenced", visibility_lag=AT_ONCE, parts={"fence": fence("fenced")})
blind = tool("blind", looks=False, ask=True)
several = [keyed, tool("other", key=DAY)]

slower_than_promised = tool("lagging", visibility_lag=timedelta(milliseconds=50))
ignored = tool("lookup", key=DAY, visibility_lag=AT_ONCE)
ignored_blind = tool("blind", looks=False, key=DAY)


def at_shop(**promised):
    """A declared tool for the small service; it shows neither states nor undo."""
    given = {"key": DAY, "visibility_lag": AT_ONCE} | promised
    return tool("shop", parts={"lookup": lookup("shop")}, **given)


def client():
    """Loading certificates would take longer than the whole exchange."""
    return httpx.AsyncClient(base_url=os.environ["SERVICE_URL"], verify=False)


def naive(**promised):
    """A tool written by hand: any 2xx is a success, and a look is taken at looks."""
    made = Tool("charge", Charge, contract(visibility_lag=AT_ONCE, **promised))

    @made.execute
    async def _(args: Charge, call) -> Receipt:
        async with client() as http:
            answer = await http.post(
                "/shop/effects",
                json=args.model_dump(),
                headers={"Idempotency-Key": call.action_id},
            )
        answer.raise_for_status()
        return Receipt(id=answer.json().get("id"))

    @made.verify
    async def _(args: Charge, call):
        async with client() as http:
            listed = (await http.get("/shop/effects")).json()["effects"]
        alike = [Receipt(id=one["id"]) for one in listed if one["body"] == args.model_dump()]
        return confirmed(matches=alike) if alike else not_found()

    return made


def by_key(tool):
    """The same with a verify that matches on our key."""

    @tool.verify
    async def _(args: Charge, call):
        async with client() as http:
            answer = await http.get("/shop/effects", params={"key": call.action_id})
        found = [Receipt(id=one["id"]) for one in answer.json()["effects"]]
        return confirmed(matches=found) if found else not_found()

    return tool
