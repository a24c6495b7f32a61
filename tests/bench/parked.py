"""Row 4: thousands of unknown actions that wait for people."""

import asyncio
import logging
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from surestep.testing.remote import RemoteWorld

from .load import loaded
from .meter import Meter
from .rows import CHARGE, confirm
from .servers import running
from .size import Size
from .spread import Spread
from .stage import Stage, stage

FLIGHT = 16
AT_ONCE = 500
ASKS = 5
WITHIN = 900.0
log = logging.getLogger("bench")


async def parked(size: Size, folder: Path) -> dict[str, Any]:
    with running(folder / "server") as server:
        async with (
            RemoteWorld.spawn(folder=folder / "world") as world,
            stage(server, world) as made,
        ):
            before = _memory(made)
            count, parking = await _park(made, size)
            waiting = _memory(made)
            await asyncio.sleep(size.quiet)  # the server tidies up for some seconds
            idle = await _idle(made, size.quiet)
            asked = await _unresolved(made, count)
            first = made.surestep.handle("parked/0")
            (record,) = await first.records()
            deciding = await loaded(
                lambda one: confirm(made, one, record.version),
                [f"parked/{number}" for number in range(count)],
                FLIGHT,
                made.cpu,
            )
            keys = [f"parked/{number}/blind" for number in range(count)]
            await made.audit("parked", keys, "parked/")
            log.warning("decided: %.1f/s", deciding.per_second)
            return {
                "count": count,
                "park_seconds": parking,
                "rss_mb_before": before,
                "rss_mb": waiting,
                "rss_mb_after": _memory(made),
                "database_mb": server.database_bytes() / 2**20,
                **idle,
                **asked,
                "decide_seconds": deciding.seconds,
                "decide": asdict(deciding),
                "wrong": made.wrong,
            }


def _memory(made: Stage) -> dict[str, float]:
    return {"server": made.server.meter.rss_mb(), "worker": Meter(os.getpid()).rss_mb()}


async def _park(made: Stage, size: Size) -> tuple[int, float]:
    """How many wait, and the seconds until all of them do. Starting more ends with patience."""
    count, begun = 0, time.monotonic()

    async def start(step_id: str) -> None:
        await made.surestep.start(step_id, made.kit.blind(**CHARGE.model_dump()))

    while count < size.parked and time.monotonic() - begun < size.parks_for:
        more = min(AT_ONCE, size.parked - count)
        ids = [f"parked/{number}" for number in range(count, count + more)]
        await loaded(start, ids, FLIGHT, made.cpu)
        count += more
        # No faster than they are settled: what waits for a worker is not what is measured.
        await made.parked("parked/", count, WITHIN)
    return count, time.monotonic() - begun


async def _idle(made: Stage, seconds: float) -> dict[str, Any]:
    """The share of one CPU that they take while nothing happens."""
    await asyncio.sleep(min(2.0, seconds))  # what was still to be written is
    before, begun = made.cpu(), time.monotonic()
    await asyncio.sleep(seconds)
    lasted, after = time.monotonic() - begun, made.cpu()
    shares = [round(100 * (one - other) / lasted, 2)
              for one, other in zip(after, before, strict=True)]  # fmt: skip
    return {
        "quiet_seconds": lasted,
        "idle_cpu_percent": {"server": shares[0], "worker": shares[1]},
    }


async def _unresolved(made: Stage, count: int) -> dict[str, Any]:
    """How long the list takes: its first hundred, and all of it."""
    found = {}
    for name, limit in (("hundred", 100), ("all", count)):
        times = []
        for _ in range(ASKS):
            begun = time.perf_counter()
            listed = await made.surestep.unresolved(limit=limit)
            times.append(1000 * (time.perf_counter() - begun))
            if len(listed) != min(limit, count):
                made.wrong.append(f"unresolved lists {len(listed)} of {count}, limit {limit}")
        found[f"unresolved_{name}_ms"] = asdict(Spread.of(times))
    return found
