"""Replay the open steps of a server against the workflows as they are here, before a deploy.

    python -m tests.replay.open_steps          all of them, as far as --limit goes

It finds the server as a worker does, and reads only. Exit code 1: at least one would not go on.
"""

import argparse
import asyncio
import os
import sys

from temporalio.client import Client
from temporalio.worker import Replayer

from surestep.connection import connection
from surestep.protocol import STEP_WORKFLOW, WATCH_WORKFLOW
from surestep.settings import Settings
from worker import WORKFLOWS, workflow_runner

QUERY = f"ExecutionStatus = 'Running' AND WorkflowType IN ('{STEP_WORKFLOW}', '{WATCH_WORKFLOW}')"


async def replay(client: Client, *, more: str = "", limit: int) -> tuple[int, dict[str, str]]:
    """How many were replayed, and why those by their ids would not go on."""
    replayer = Replayer(
        workflows=WORKFLOWS,
        workflow_runner=workflow_runner(),
        data_converter=client.data_converter,
    )
    count, broken = 0, {}
    histories = client.list_workflows(QUERY + more, limit=limit).map_histories()
    async with replayer.workflow_replay_iterator(histories) as results:
        async for result in results:
            count += 1
            if result.replay_failure:
                broken[result.history.workflow_id] = str(result.replay_failure)
    return count, broken


async def main(limit: int) -> int:
    async with connection(Settings.from_environment()) as connected:
        count, broken = await replay(connected.client, limit=limit)
    for step_id, why in broken.items():
        print(f"{step_id}: {why[:300]}")
    print(f"{count} open steps replayed, {len(broken)} of them would not go on")
    return 1 if broken else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.replay.open_steps")
    parser.add_argument("--limit", type=int, default=10_000)
    code = asyncio.run(main(parser.parse_args().limit))
    # The SDK can crash while the interpreter is being taken down; everything is written by now.
    sys.stdout.flush()
    os._exit(code)
