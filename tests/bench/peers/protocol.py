"""A peer in a process of its own: an order a line on its input, an answer a line on its output.

{"do": "run", "prefix": ..., "count": ..., "flight": ..., "url": ...}  the seconds that they took
{"do": "one", "key": ..., "url": ...}                     what the peer says became of it

Only the standard library and httpx: this is also run by the interpreters of other environments.
"""

import asyncio
import json
import ssl
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

Perform = Callable[[str, str], Awaitable[str]]
"""From the service's URL and the key to what is said of the effect; raises where it is none."""

_TRUSTED = ssl.create_default_context()


def client() -> httpx.AsyncClient:
    """As ours makes one: a connection for each call, certificates loaded once."""
    return httpx.AsyncClient(timeout=25.0, verify=_TRUSTED, headers={"Connection": "close"})


async def charged(url: str, key: str) -> str:
    """The call that every row makes; the id of the effect. Raises httpx.HTTPError."""
    async with client() as http:
        answer = await http.post(
            f"{url}/effects",
            json={"order": "order-7781", "cents": 2500},
            headers={"Idempotency-Key": key},
        )
        effect: str = answer.raise_for_status().json()["id"]
        return effect


async def found(url: str, key: str) -> list[str]:
    """The ids of the effects that the service shows under the key."""
    async with client() as http:
        answer = await http.get(f"{url}/effects", params={"key": key})
        return [one["id"] for one in answer.raise_for_status().json()["effects"]]


async def serve(perform: Perform) -> None:
    """Carry out orders until the input ends."""
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    _tell({"ready": True})
    while line := await reader.readline():
        order = json.loads(line)
        _tell(await (_run if order["do"] == "run" else _one)(perform, order))


async def _run(perform: Perform, order: dict[str, Any]) -> dict[str, Any]:
    left = iter(range(order["count"]))

    async def one_after_the_other() -> None:
        for number in left:
            await perform(order["url"], f"{order['prefix']}{number}/charge")

    begun = time.perf_counter()
    await asyncio.gather(*(one_after_the_other() for _ in range(order["flight"])))
    return {"seconds": time.perf_counter() - begun}


async def _one(perform: Perform, order: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"said": "done", "effect": await perform(order["url"], order["key"])}
    except Exception as error:
        return {"said": "error", "why": f"{type(error).__name__}: {error}"[:200]}


def _tell(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)
