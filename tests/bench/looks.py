"""Row 4: looks that are all due when a worker comes back. Is the service stormed?"""

import asyncio
import logging
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

from surestep.testing.remote import RemoteWorld
from tests.waiting import eventually
from worker import build_worker

from .load import loaded
from .meter import Meter
from .rows import CHARGE
from .servers import running
from .size import Size
from .stage import QUEUE, connected, verdict
from .tools import Kit

FLIGHT = 16
MARGIN = 3.0
SETTLES_WITHIN = 600.0
log = logging.getLogger("bench")


async def looks(size: Size, folder: Path) -> dict[str, Any]:
    """Actions in doubt whose looks fail; the worker goes; every next look falls due; one comes."""
    ids = [f"due/{number}" for number in range(size.due)]
    with running(folder / "server") as server:
        async with (
            RemoteWorld.spawn(folder=folder / "world") as world,
            connected(server) as surestep,
        ):
            kit = Kit(world.url)
            kit.eyes.shut = True

            async def start(step_id: str) -> None:
                await surestep.start(step_id, kit.doubtful(**CHARGE.model_dump()))

            def cpu() -> tuple[float, float]:
                return server.meter.cpu(), Meter(os.getpid()).cpu()

            async def all_sent() -> bool:
                return len({one.key for one in await world.effects("due/*")}) == len(ids)

            async def all_settled() -> bool:
                query = "WorkflowType = 'AgentStep' AND ExecutionStatus = 'Completed'"
                return (await surestep.client.count_workflows(query)).count >= len(ids)

            began = time.monotonic()
            async with build_worker(surestep.client, kit.tools(), task_queue=QUEUE):
                await loaded(start, ids, FLIGHT, cpu)
                await eventually(all_sent, within=SETTLES_WITHIN)
                await asyncio.sleep(1.0)  # for their first looks
            # Pauses between looks double, so none is longer than the time since the first look.
            await asyncio.sleep(time.monotonic() - began + MARGIN)
            kit.eyes.shut, begun, before = False, time.monotonic(), cpu()
            async with build_worker(surestep.client, kit.tools(), task_queue=QUEUE):
                await eventually(all_settled, within=SETTLES_WITHIN)
                seconds, after = time.monotonic() - begun, cpu()
            counted = Counter(one.key or "" for one in await world.effects("due/*"))
            seen = [one for one in await world.requests("due/*") if one.method == "GET"]
            by_second = Counter(one.at.replace(microsecond=0) for one in seen)
            log.warning("%d looks in %.1f s, %d at once", len(seen), seconds, kit.eyes.most)
    return {
        "due": len(ids),
        "settled_seconds": seconds,
        "looks": len(seen),
        "most_at_once": kit.eyes.most,
        "most_in_a_second": max(by_second.values()),
        "cpu_ms": 1000 * sum(one - other for one, other in zip(after, before, strict=True))
        / len(ids),
        "wrong": verdict("looks", {f"{one}/doubtful": 1 for one in ids}, dict(counted)),
    }  # fmt: skip
