"""DBOS: a durable workflow with one step that may be retried, the workflow's id as the key."""

import asyncio
import sys

from dbos import DBOS, DBOSConfig, SetWorkflowID

from tests.bench.peers.protocol import charged, serve


@DBOS.step(retries_allowed=True)
async def charge(url: str, key: str) -> str:
    return await charged(url, key)


@DBOS.workflow()
async def plain(url: str, key: str) -> str:
    return await charge(url, key)


async def perform(url: str, key: str) -> str:
    # The same id again is the same workflow: it is waited for, not run a second time.
    with SetWorkflowID(key):
        return await plain(url, key)


async def main(database: str) -> None:
    config: DBOSConfig = {
        "name": "bench",
        "system_database_url": database,
        "log_level": "ERROR",
        "application_version": "1",  # a recovery is for workflows of the same version
    }
    DBOS(config=config)
    DBOS.launch()  # which recovers what was pending
    await serve(perform)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
