"""Two tools for each column: one written in a hurry, and one declared."""

from enum import StrEnum

import httpx
from pydantic import BaseModel

from surestep import Call, Fence, Receipt, Tool, Verification, confirmed, not_found
from surestep.http import (
    FenceRequest,
    HttpTool,
    Lookup,
    Operations,
    Request,
    Service,
    Shape,
    States,
)

from .columns import GIVES_UP, Column


class Style(StrEnum):
    NAIVE = "naive"
    DECLARED = "declared"


class Charge(BaseModel):
    order: str
    cents: int


def tool(column: Column, style: Style, url: str) -> Tool:
    """The tool of one cell, for the world at `url`."""
    make = naive if style is Style.NAIVE else declared
    return make(f"{style}_{column.service.name}", column, url)


def naive(name: str, column: Column, url: str) -> Tool:
    """What one writes without a thought for failures: it knows 201, and a hit or a miss."""
    place, made = f"{url}/{column.service.name}", Tool(name, Charge, column.contract)

    def client() -> httpx.AsyncClient:
        # verify=False only spares the loading of certificates for every request.
        return httpx.AsyncClient(timeout=GIVES_UP, verify=False, trust_env=False)

    @made.execute
    async def _(args: Charge, call: Call) -> Receipt:
        async with client() as http:
            key = {"Idempotency-Key": call.action_id}
            answer = await http.post(f"{place}/effects", json=args.model_dump(), headers=key)
            answer.raise_for_status()
            said = answer.json()
            return Receipt(id=said["operation" if column.works else "id"], result=said)

    if column.looks:

        @made.verify
        async def _(args: Charge, call: Call) -> Verification:
            async with client() as http:
                answer = await http.get(f"{place}/effects", params={"key": call.action_id})
                if answer.status_code == 404:
                    return not_found()
                answer.raise_for_status()
                for effect in answer.json().get("effects", []):
                    if effect["key"] == call.action_id and effect["status"] == "succeeded":
                        return confirmed(Receipt(id=effect["id"]))
                return not_found()

    if column.service.fences:

        @made.fence
        async def _(args: Charge, call: Call) -> Fence:
            async with client() as http:
                answer = await http.post(f"{place}/fences", json={"key": call.action_id})
                answer.raise_for_status()
                said = answer.json()
                exists = Receipt(id=said["effect"]["id"]) if "effect" in said else None
                return Fence(held=said["fenced"], exists=exists)

    return made


def declared(name: str, column: Column, url: str) -> HttpTool:
    at, shown = f"/{column.service.name}", Shape(states=States())
    fence = FenceRequest(
        Request("POST", f"{at}/fences", body={"key": "{call.key}"}),
        held={"/fenced": True},
        exists="/effect",
    )
    lookup = Lookup(
        f"{at}/effects",
        {"key": "{call.key}"},
        items="/effects",
        same={"order": "/body/order", "cents": "/body/cents"},
        shape=shown,
    )
    return HttpTool(
        name,
        Charge,
        column.contract,
        service=Service(url),
        request=Request("POST", f"{at}/effects"),
        operations=Operations() if column.works else None,
        lookup=lookup if column.looks else None,
        fence=fence if column.service.fences else None,
    )
