"""agent-once: a call at most once for each key, in SQLite; whoever is in doubt asks the service."""

import asyncio
import sys

import httpx
from once import NOT_HAPPENED, Once

from tests.bench.peers.protocol import charged, found, serve

STALE_AFTER = 5.0  # "well above the tool's longest run", which is milliseconds here


async def main(database: str) -> None:
    once = Once(
        database,
        unknown_on=(TimeoutError, httpx.TransportError),
        stale_after=STALE_AFTER,
    )

    async def charge(url: str, idempotency_key: str | None = None) -> str:
        return await charged(url, idempotency_key or "")

    async def perform(url: str, key: str) -> str:
        async def verify(key: str, args: dict) -> object:
            ids = await found(url, key)
            return ids[0] if ids else NOT_HAPPENED

        return await once.aexecute(charge, key=key, tool_name="charge", verify=verify, url=url)

    await serve(perform)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
