"""Rows 1 to 3: each row at each number in flight, in rounds, so that a drift meets all alike."""

import logging
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from surestep.testing.remote import RemoteWorld

from . import histories
from .load import Slice, loaded
from .rows import FLOOR, KEYED, PARALLEL, ROWS, TUNED, Row
from .servers import running
from .size import Size
from .spread import Spread, ratios
from .stage import Stage, stage

Readings = dict[tuple[str, int], list[Slice]]
log = logging.getLogger("bench")


async def flow(size: Size, folder: Path) -> dict[str, Any]:
    with running(folder / "server") as server:
        async with (
            RemoteWorld.spawn(folder=folder / "world") as world,
            stage(server, world, floor=True) as made,
        ):
            await _warm(made)
            readings = await _rounds(made, size)
            told = await histories.told(made)
    return {**summary(readings), "histories": told, "wrong": made.wrong}


async def _warm(made: Stage) -> None:
    for row in ROWS:
        ids = [f"warm/{ROWS.index(row)}/{number}" for number in range(2)]
        await row.prepare(made, ids, 1)
        await loaded(lambda one, row=row: row.act(made, one), ids, 2, made.cpu)


async def _rounds(made: Stage, size: Size) -> Readings:
    readings: Readings = {}
    pair = tuple(row for row in ROWS if row.name in (FLOOR, TUNED, KEYED))
    begun = time.monotonic()
    for number, chosen in enumerate(_order(size, pair)):
        if number and time.monotonic() - begun > size.patience:
            break
        for flight in size.flights:
            # There and back again: what comes first in one round comes last in the next.
            for row in chosen if number % 2 == 0 else reversed(chosen):
                reading = await _reading(made, row, flight, number, size)
                readings.setdefault((row.name, flight), []).append(reading)
                log.warning("%s at %s: %.1f/s", row.name, flight, reading.per_second)
    return readings


def _order(size: Size, pair: Sequence[Row]) -> list[Sequence[Row]]:
    """Rounds of all rows, with the rounds of the pair spread between them."""
    order: list[Sequence[Row]] = []
    for number in range(size.rounds):
        order.append(ROWS)
        more = size.pairs * (number + 1) // size.rounds - size.pairs * number // size.rounds
        order += [pair] * more
    return order


async def _reading(made: Stage, row: Row, flight: int, number: int, size: Size) -> Slice:
    rate = row.usual * (0.6 if flight == 1 else 1)
    count = max(2, flight, round(rate * size.slice))
    if flight > 16 and row.name in (FLOOR, TUNED, KEYED):
        # The beginning and the end, with fewer in flight, must not be most of it.
        count = max(count, 2 * flight)
    prefix = f"bench/{ROWS.index(row)}/{number}/{flight}/"
    ids = [f"{prefix}{one}" for one in range(count)]
    await row.prepare(made, ids, flight)
    reading = await loaded(lambda one: row.act(made, one), ids, flight, made.cpu)
    await row.tidy(made)
    keys = [key for one in ids for key in row.keys(one)]
    await made.audit(f"{row.name} at {flight}", keys, prefix)
    return reading


def summary(readings: Readings) -> dict[str, Any]:
    rows = []
    for (name, flight), found in readings.items():
        rows.append(
            {
                "row": name,
                "flight": flight,
                "per_s": asdict(Spread.of([one.per_second for one in found])),
                "cpu_ms": asdict(Spread.of([one.cpu_ms for one in found])),
                "server_cpu_ms": asdict(
                    Spread.of([1000 * one.server_cpu / one.count for one in found])
                ),
                "agent_cpu_ms": asdict(
                    Spread.of([1000 * one.agent_cpu / one.count for one in found])
                ),
                "p50_ms": asdict(Spread.of([one.p50 for one in found])),
                "p95_ms": asdict(Spread.of([one.p95 for one in found])),
                "readings": [asdict(one) for one in found],
            }
        )
    return {
        "rows": rows,
        "over_floor": _over(FLOOR, readings),
        "over_tuned_floor": _over(TUNED, readings),
        "ten_over_one": _ten(readings),
    }


def _over(under: str, readings: Readings) -> list[dict[str, Any]]:
    """Keyed against a floor, by round: of throughput, and of CPU for each action."""
    found = []
    for flight in sorted({flight for _, flight in readings}):
        keyed, floor = readings[KEYED, flight], readings[under, flight]
        rates = ratios([one.per_second for one in keyed], [one.per_second for one in floor])
        costs = ratios([one.cpu_ms for one in keyed], [one.cpu_ms for one in floor])
        found.append(
            {
                "flight": flight,
                "throughput": asdict(Spread.of(rates)),
                "cpu": asdict(Spread.of(costs or [0.0])),
            }
        )
    return found


def _ten(readings: Readings) -> dict[str, Any]:
    """A step of ten against a step of one, in time with one in flight, and in CPU."""
    one, ten = readings[KEYED, 1], readings[PARALLEL, 1]
    times = ratios([each.seconds / each.count for each in ten],
                   [each.seconds / each.count for each in one])  # fmt: skip
    costs = ratios([each.cpu_ms for each in ten], [each.cpu_ms for each in one])
    return {"time": asdict(Spread.of(times)), "cpu": asdict(Spread.of(costs or [0.0]))}
