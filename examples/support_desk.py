"""What the two support agents share: the tools, the world that they act on, and its ledgers.

Not run by itself; see `support_agent_langgraph.py` and `support_agent_pydantic_ai.py`.
"""

import os
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import httpx
from pydantic import BaseModel

from surestep import Contract, Effect, KeySupport, Surestep, Tools
from surestep.agents import AgentTools
from surestep.http import HttpTool, Lookup, Request, Service, env
from surestep.testing import World
from worker import build_worker

WISH = "Order 7781 arrived broken. I want my 25.00 back, and word when it is done. Ada"
PLAN: list[tuple[str, dict[str, Any]]] = [
    ("refund", {"order": "7781", "cents": 2500}),
    ("mail", {"customer": "ada", "text": "Your 25.00 are on their way."}),
]


class Refund(BaseModel):
    """Pay money back for an order."""

    order: str
    cents: int


class Mail(BaseModel):
    """Write to a customer."""

    customer: str
    text: str


# The payment service honours our key. The mail service ignores it, but shows what it was sent.
PROMPT: dict[str, Any] = {"in_flight": timedelta(seconds=2), "visibility_lag": timedelta(0)}
DAY = KeySupport(lifetime=timedelta(hours=24))
REQUEST = Request("POST", "/effects")
LOOKUP = Lookup("/effects", {"key": "{call.key}"}, items="/effects")

refund = HttpTool(
    "refund",
    Refund,
    Contract(effect=Effect.IRREVERSIBLE, key=DAY, **PROMPT),
    service=Service(env("REFUNDS_URL")),
    request=REQUEST,
    lookup=LOOKUP,
)
mail = HttpTool(
    "mail",
    Mail,
    Contract(effect=Effect.IRREVERSIBLE, **PROMPT),
    service=Service(env("MAIL_URL")),
    request=REQUEST,
    lookup=LOOKUP,
)


async def unguarded(tool: str, body: dict[str, Any]) -> str:
    """The same request without Surestep, as tools are usually written: a new key each time."""
    url = os.environ[{"refund": "REFUNDS_URL", "mail": "MAIL_URL"}[tool]]
    headers = {"Idempotency-Key": f"unguarded/{tool}/{uuid4()}"}
    try:
        async with httpx.AsyncClient(timeout=5) as http:
            answer = await http.post(f"{url}/effects", json=body, headers=headers)
            return f"done, id {answer.raise_for_status().json()['id']}"
    except httpx.HTTPError as error:
        return f"error: {error}"


def next_call(results: Sequence[tuple[str, str]]) -> tuple[str, dict[str, Any]] | None:
    """What a helpful model calls next, after these results: one by one, what failed once more."""
    done = {tool for tool, text in results if not text.startswith("error")}
    return next(((tool, arguments) for tool, arguments in PLAN if tool not in done), None)


async def compare(
    ticket: str,
    without: Callable[[], Awaitable[str]],
    with_surestep: Callable[[AgentTools], Awaitable[str]],
) -> None:
    """Lets both agents work while each service loses its first answer, and prints the ledgers."""
    with TemporaryDirectory() as folder:
        async with World.start(folder=Path(folder)) as world, Surestep.connect() as connected:
            # A queue of its own: other workers here do not know these tools.
            surestep = Surestep(connected.client, task_queue="example-support")
            os.environ["REFUNDS_URL"] = f"{world.url}/keyed"
            os.environ["MAIL_URL"] = f"{world.url}/lookup"
            for agent in ("unguarded", ticket):
                for tool in ("refund", "mail"):
                    await world.fault(f"{agent}/{tool}/*", write=["reply_lost"])
            tools, queue = Tools(refund, mail), surestep.task_queue
            async with build_worker(surestep.client, tools, task_queue=queue):
                print("without Surestep:", await without())
                await show(world, "unguarded/*")
                ours = AgentTools(surestep, refund, mail)
                print("with Surestep:", await with_surestep(ours))
                await show(world, f"{ticket}/*")


async def show(world: World, keys: str) -> None:
    for effect in await world.effects(keys):
        body = effect.body if isinstance(effect.body, dict) else {}
        tool, wanted = next(one for one in PLAN if one[1].keys() == body.keys())
        print(f"  {tool:8}", *(body[name] for name in wanted))
