"""Row 4: what an action costs after many others, and a step with much in it."""

import logging
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from surestep.decision import Verdict
from surestep.testing.remote import RemoteWorld

from .histories import history
from .load import Slice, loaded
from .meter import Meter
from .rows import BY_NAME, FLOOR, KEYED, park, wide
from .servers import Server, running
from .size import Size
from .spread import Spread, ratios
from .stage import Stage, stage

FLIGHT = 16
log = logging.getLogger("bench")


async def growth(size: Size, folder: Path) -> dict[str, Any]:
    """A database that grows; at the end a young one beside it, window by window in turn.

    The two have the same machine at the same time, so that what is compared is their age. So has
    the floor, which tells how much of it is Temporal's own.
    """
    before, after = size.growth
    async with AsyncExitStack() as stack:
        world = await stack.enter_async_context(RemoteWorld.spawn(folder=folder / "world"))
        old = stack.enter_context(running(folder / "old"))
        aged = await stack.enter_async_context(stage(old, world, floor=True))
        grown, windows = 0, []
        begun = time.monotonic()
        while grown < after and time.monotonic() - begun < size.grows_for:
            reading = await _window(aged, f"grow/{grown}", size.window)
            grown += size.window
            windows.append(_told(grown, reading, aged))
            log.warning("%d actions: %.1f/s", grown, reading.per_second)
        fresh = stack.enter_context(running(folder / "young"))
        young = await stack.enter_async_context(stage(fresh, world, floor=True))
        for number in range(0, before, size.window):
            await _window(young, f"young/{number}", size.window)
        turns: dict[str, dict[str, list[Slice]]] = {
            row: {"old": [], "young": []} for row in (KEYED, FLOOR)
        }
        for number in range(size.aged_rounds):
            order = [(row, *where) for row in turns for where in (("old", aged), ("young", young))]
            for row, age, where in order if number % 2 == 0 else reversed(order):
                reading = await _window(where, f"turn/{row}/{number}", size.window, row)
                turns[row][age].append(reading)
        wrong = aged.wrong + young.wrong
    return {
        "young_actions": before,
        "old_actions": grown,
        "in_flight": FLIGHT,
        "windows": windows,
        "old_over_young": _old_over_young(turns[KEYED]),
        "floor_old_over_young": _old_over_young(turns[FLOOR]),
        "turns": {
            row: {age: [asdict(one) for one in found] for age, found in by_age.items()}
            for row, by_age in turns.items()
        },
        "wrong": wrong,
    }


async def _window(where: Stage, prefix: str, count: int, row: str = KEYED) -> Slice:
    ids = [f"{prefix}/{number}" for number in range(count)]
    reading = await loaded(lambda one: BY_NAME[row].act(where, one), ids, FLIGHT, where.cpu)
    await where.audit(f"growth, {prefix}", [f"{one}/charge" for one in ids], f"{prefix}/")
    return reading


def _old_over_young(by_age: Mapping[str, Sequence[Slice]]) -> dict[str, Any]:
    costs = {
        kind: {age: [_cost(one, kind) for one in found] for age, found in by_age.items()}
        for kind in ("time", "cpu")
    }
    return {
        kind: asdict(Spread.of(ratios(found["old"], found["young"])))
        for kind, found in costs.items()
    }


def _cost(reading: Slice, kind: str) -> float:
    return reading.seconds / reading.count if kind == "time" else reading.cpu_ms


def _told(grown: int, reading: Slice, where: Stage) -> dict[str, Any]:
    server: Server = where.server
    return {
        "actions": grown,
        "per_s": reading.per_second,
        "server_cpu_ms": 1000 * reading.server_cpu / reading.count,
        "agent_cpu_ms": 1000 * reading.agent_cpu / reading.count,
        "server_rss_mb": server.meter.rss_mb(),
        "agent_rss_mb": Meter(os.getpid()).rss_mb(),
        "database_mb": server.database_bytes() / 2**20,
    }


async def width(size: Size, folder: Path) -> dict[str, Any]:
    """Actions in one step, and evidence on one action."""
    with running(folder / "server") as server:
        async with (
            RemoteWorld.spawn(folder=folder / "world") as world,
            stage(server, world) as made,
        ):
            await wide(made, "warm/0", 2)
            steps = [await _wide(made, count) for count in size.wide]
            told = await _evidence(made, size.evidence)
    return {"steps": steps, "evidence": told, "wrong": made.wrong}


async def _wide(made: Stage, count: int) -> dict[str, Any]:
    """Several steps of so many parallel actions, one after the other."""
    keys: list[str] = []

    async def act(step_id: str) -> None:
        keys.extend(await wide(made, step_id, count))

    prefix = f"wide/{count}/"
    ids = [f"{prefix}{number}" for number in range(max(2, min(10, 60 // count)))]
    reading = await loaded(act, ids, 1, made.cpu)
    await made.audit(f"a step of {count}", keys, prefix)
    left = await history(made, ids[0])
    return {
        "actions": count,
        "steps": len(ids),
        "step_ms": 1000 * reading.seconds / reading.count,
        "cpu_ms_of_an_action": reading.cpu_ms / count,
        "events": left["count"],
        "bytes": left["bytes"],
    }


async def _evidence(made: Stage, count: int) -> dict[str, Any]:
    """One parked action, on which a person says again and again that it is to be looked at."""
    step_id = "evidence/0"
    version = await park(made, [step_id])
    handle = made.surestep.handle(step_id)
    times: list[float] = []
    for number in range(count):
        begun = time.perf_counter()
        until = datetime.now(UTC) + timedelta(days=1, seconds=number)
        ruling = await made.surestep.decide(
            step_id, Verdict.KEEP_LOOKING, by="bench", until=until, version=version
        )
        times.append(1000 * (time.perf_counter() - begun))
        if not ruling.taken:
            made.wrong.append(f"evidence {number}: {ruling.why}")
        version = ruling.version
    (record,) = await handle.records()
    left = await history(made, step_id)
    await made.audit("evidence", [f"{step_id}/blind"], "evidence/")
    part = max(1, count // 10)
    return {
        "count": count,
        "first_ms": median(times[:part]),
        "last_ms": median(times[-part:]),
        "record_bytes": len(record.model_dump_json()),
        "events_of_the_run": left["count"],
        "bytes_of_the_run": left["bytes"],
        "runs": 1 + await _renewals(made, step_id),
    }


async def _renewals(made: Stage, step_id: str) -> int:
    query = f"WorkflowId = '{step_id}' AND ExecutionStatus = 'ContinuedAsNew'"
    return (await made.client.count_workflows(query)).count
