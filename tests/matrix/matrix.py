"""All cells at once: one server, one world, one worker, one human."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from temporalio.client import Client

from surestep import State, Surestep, Tools
from surestep.testing import World
from surestep.testing.human import Human
from worker import build_worker

from .cell import Cell, Knowing, Result, run
from .columns import COLUMNS, WATCH
from .rows import ROWS
from .tools import Style, tool

AT_ONCE: Final = 150  # cells; most of them wait
APART: Final = 0.08  # seconds between two starts, on a machine that has nothing else to do
UNHURRIED: Final = 4.0  # times that a start took lately lie between two starts on a busy one
WATCHED_AFTER: Final = timedelta(seconds=WATCH + 3)
QUEUE: Final = "matrix"

Said = Callable[[Result], None]


def cells() -> list[Cell]:
    """Every cell that makes sense: a look's fault needs a contract that looks."""
    return [
        Cell(column, style, row)
        for row in ROWS
        for column in COLUMNS
        for style in Style
        if row.look is None or column.looks
    ]


async def judge(
    chosen: Sequence[Cell], client: Client, folder: Path, said: Said = lambda _: None
) -> list[Result]:
    """Runs the cells, those that take longest first, and waits for what is watched."""
    async with _stage(client, folder) as (surestep, world, knowing):
        tools = {
            (column, style): tool(column, style, world.url) for column in COLUMNS for style in Style
        }
        places, pace = asyncio.Semaphore(AT_ONCE), Pace()

        async def one(number: int, cell: Cell) -> Result:
            step_id = f"matrix/{number}"
            knowing.cells[step_id] = cell
            async with places:
                await pace.turn()
                result = await run(
                    cell, step_id, tools[cell.column, cell.style], surestep, world, pace.took
                )
            said(result)
            return result

        async with build_worker(
            client, Tools(*tools.values()), task_queue=QUEUE, grace=timedelta(0)
        ):
            # Those that take longest begin first, and what is broken may have to be watched.
            order = sorted(chosen, key=lambda cell: (-cell.lands, not cell.broken))
            running = (one(number, cell) for number, cell in enumerate(order))
            results = list(await asyncio.gather(*running))
            await _watched(results, surestep)
    return results


class Pace:
    """Lets cells begin one after the other, and slower where the server is slow to start them.

    Otherwise a busy machine would make answers late that no fault has made late.
    """

    def __init__(self) -> None:
        self._lately = 0.0
        self._door = asyncio.Lock()

    def took(self, seconds: float) -> None:
        """A start took so long."""
        self._lately += (seconds - self._lately) / 5

    async def turn(self) -> None:
        async with self._door:
            await asyncio.sleep(max(APART, UNHURRIED * self._lately))


@asynccontextmanager
async def _stage(client: Client, folder: Path) -> AsyncIterator[tuple[Surestep, World, Knowing]]:
    knowing, surestep = Knowing(), Surestep(client, task_queue=QUEUE)
    services = [column.service for column in COLUMNS]
    async with (
        World.start(folder=folder, services=services) as world,
        Human(surestep, world, knowing.says, every=timedelta(seconds=1)),
    ):
        yield surestep, world, knowing


async def _watched(results: Sequence[Result], surestep: Surestep) -> None:
    """Adds what the watch of an ended action found, where an effect came after the end."""
    late = [one for one in results if one.watched and one.effects != (one.state is State.CONFIRMED)]
    ends = [one.outcome.evidence[-1].at for one in late if one.outcome]
    if not ends:
        return
    left = max(ends) + WATCHED_AFTER - datetime.now(UTC)
    await asyncio.sleep(max(left.total_seconds(), 0.0))
    found = {one.step_id: one.anomalies for one in await surestep.unresolved() if one.watch_id}
    for result in late:
        result.anomalies += found.get(result.step_id, ())
