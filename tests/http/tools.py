"""Declared tools for the services of the world, and for a raw server at SERVICE_URL."""

from datetime import UTC, datetime, timedelta

from pydantic import BaseModel

from surestep import Call, Contract, Effect, KeySupport, Receipt
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
PROMPT = {"in_flight": timedelta(seconds=2), "visibility_lag": timedelta(0)}
SERVICE = Service(env("SERVICE_URL"))
SHOWN = Shape(states=States(succeeded=frozenset({"succeeded", "voided"})))


class Charge(BaseModel):
    order: str
    cents: int


def contract(**promised):
    return Contract(**{"effect": Effect.IRREVERSIBLE, "timeout": timedelta(seconds=3)} | promised)


def by_key(at, **options):
    return Lookup(
        f"/{at}/effects",
        {"key": "{call.key}"},
        items="/effects",
        same={"order": "/body/order", "cents": "/body/cents"},
        **{"shape": SHOWN} | options,
    )


def tool(name, at, *, looks=True, promised=PROMPT, **parts):
    """A tool for the world's service `at`."""
    parts.setdefault("lookup", by_key(at) if looks else None)
    parts.setdefault("service", SERVICE)
    parts.setdefault("request", Request("POST", f"/{at}/effects"))
    return HttpTool(name, Charge, contract(**promised), recognise="order", **parts)


def raw(**parts):
    """A tool for a raw server, with a key and without lookup unless the parts give one."""
    promised = parts.pop("promised", {"key": DAY})
    parts.setdefault("request", Request("POST", "/charges"))
    return tool("raw", "raw", looks=False, promised=promised, **parts)


keyed = tool("keyed", "keyed", promised={"key": DAY, **PROMPT})
keyed_blind = tool("keyed_blind", "keyed_blind", looks=False, promised={"key": DAY})
lookup = tool("lookup", "lookup")
blind = tool("blind", "blind", looks=False, promised={"ask": True})
queued = tool(
    "queued",
    "asynchronous",
    promised={"response_proves": False},
    operations=Operations(),  # where the operation is says Location
)
fenced = tool(
    "fenced",
    "fenced",
    promised={},
    fence=FenceRequest(
        Request("POST", "/fenced/fences", body={"key": "{call.key}"}),
        held={"/fenced": True},
        exists="/effect",
    ),
)
undoable = tool(
    "undoable",
    "lookup",
    undo=Undo(
        Request("DELETE", "/lookup/effects/{call.receipt.id}"),
        shape=Shape(success={"/status": "voided"}),
        lookup=UndoLookup("/lookup/effects/{call.receipt.id}", undone={"/status": "voided"}),
    ),
)


def call(key="step-1/charge", *, attempt=1, within=2.0, receipt=None):
    """A call that ends in `within` seconds."""
    deadline = datetime.now(UTC) + timedelta(seconds=within)
    found = Receipt(id=receipt) if isinstance(receipt, str) else receipt
    return Call(action_id=key, attempt=attempt, deadline=deadline, receipt=found)


def args(tool=keyed, **given):
    """Arguments as `execute` gets them: from their recorded form."""
    action = tool(**{"order": "o-1", "cents": 2500} | given)
    return tool.load(action.arguments)


async def execute(tool, key="step-1/charge", /, *, within=2.0, receipt=None, **given):
    answer = call(key, within=within, receipt=receipt)
    return await tool.execute_with(args(tool, **given), answer)


async def verify(tool, key="step-1/charge", /, *, within=2.0, receipt=None, **given):
    looked = call(key, within=within, receipt=receipt)
    return await tool.verify_with(args(tool, **given), looked)
