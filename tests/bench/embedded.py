"""The embedded server beside the development server as it comes; and what a SIGKILL leaves."""

import logging
import random
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from surestep.evidence import State
from surestep.testing.remote import RemoteWorld

from .floor import on_the_floor
from .load import Slice, loaded
from .rows import BY_NAME, CHARGE, park
from .servers import DEFAULT_FILE, DEFAULT_MEMORY, OURS, running
from .size import Size
from .spread import Spread, ratios
from .stage import Stage, stage

KEYED = BY_NAME["keyed"]
KINDS = (OURS, DEFAULT_FILE, DEFAULT_MEMORY)
PLAIN = "plain workflow"
WORK = (PLAIN, KEYED.name)
WARM = 3
log = logging.getLogger("bench")

Readings = dict[tuple[str, str], list[Slice]]


async def embedded(size: Size, folder: Path) -> dict[str, Any]:
    """One in flight on three servers in turn: a plain workflow, started as by default, and ours.

    The plain one shows what the server's settings are worth. An eager start saves some of the
    server's hops, and so hides a part of it.
    """
    readings: Readings = {}
    async with AsyncExitStack() as stack:
        world = await stack.enter_async_context(RemoteWorld.spawn(folder=folder / "world"))
        stages: dict[str, Stage] = {}
        for number, kind in enumerate(KINDS):
            server = stack.enter_context(running(folder / f"server-{number}", kind))
            stages[kind] = await stack.enter_async_context(stage(server, world, floor=True))
            for work in WORK:
                for one in range(WARM):
                    await _act(stages[kind], work, f"warm/{number}/{WORK.index(work)}/{one}")
        for number in range(size.embedded_rounds):
            for work in WORK:
                order = list(KINDS)
                random.Random(number).shuffle(order)
                for kind in order:
                    place = f"{KINDS.index(kind)}/{WORK.index(work)}"
                    reading = await _reading(stages[kind], work, f"{place}/{number}/", size)
                    readings.setdefault((work, kind), []).append(reading)
                    log.warning("%s, %s: %.1f/s", work, kind, reading.per_second)
    return {
        "servers": [
            {
                "work": work,
                "server": kind,
                "per_s": asdict(Spread.of([one.per_second for one in found])),
                "p50_ms": asdict(Spread.of([one.p50 for one in found])),
                "cpu_ms": asdict(Spread.of([one.cpu_ms for one in found])),
            }
            for (work, kind), found in readings.items()
        ],
        "over": {
            work: {kind: asdict(Spread.of(_over(readings, work, kind))) for kind in KINDS[1:]}
            for work in WORK
        },
        "wrong": [one for made in stages.values() for one in made.wrong],
    }


async def _act(made: Stage, work: str, step_id: str) -> None:
    if work == PLAIN:
        url = f"{made.world.url}/keyed"
        await on_the_floor(made.plain, url, step_id, CHARGE)
    else:
        await KEYED.act(made, step_id)


async def _reading(made: Stage, work: str, place: str, size: Size) -> Slice:
    prefix = f"servers/{place}"
    ids = [f"{prefix}{one}" for one in range(size.embedded_run_in + size.embedded_actions)]
    # A server that rested has polls to spare, which the first actions would use up.
    for one in ids[: size.embedded_run_in]:
        await _act(made, work, one)
    timed = ids[size.embedded_run_in :]
    reading = await loaded(lambda one: _act(made, work, one), timed, 1, made.cpu)
    await made.audit(f"{work}, {made.server.kind}", [f"{one}/charge" for one in ids], prefix)
    return reading


def _over(readings: Readings, work: str, kind: str) -> list[float]:
    ours, theirs = readings[work, OURS], readings[work, kind]
    return ratios([one.per_second for one in ours], [one.per_second for one in theirs])


async def durability(size: Size, folder: Path) -> dict[str, Any]:
    """Ended and parked steps, a SIGKILL at once, a restart: is all still known, and done once?"""
    count = size.durable
    ended = [f"ended/{number}" for number in range(count)]
    waiting = [f"waiting/{number}" for number in range(count)]
    with running(folder / "server") as server:
        async with (
            RemoteWorld.spawn(folder=folder / "world") as world,
            stage(server, world) as made,
        ):
            await park(made, waiting)
            await loaded(lambda one: KEYED.act(made, one), ended, 16, made.cpu)
            server.kill()
            server.start()
            known = 0
            for one in ended:
                outcome = await made.surestep.recall(one)
                known += outcome is not None and outcome.state is State.CONFIRMED
                await made.surestep.run(one, made.kit.keyed(**CHARGE.model_dump()))
            await made.parked("waiting/", count, 60)
            await made.audit("durability, ended", [f"{one}/charge" for one in ended], "ended/")
            await made.audit("durability, parked", [f"{one}/blind" for one in waiting], "waiting/")
    if known != count:
        made.wrong.append(f"durability: {known} of {count} ended steps are known after the kill")
    return {"ended": count, "parked": count, "known": known, "wrong": made.wrong}
