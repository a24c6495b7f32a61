"""E3: workers that are killed (SIGKILL) at each point on an action's way; real processes.

Three ways on one server and against one service, which ignores keys and shows its effects: plain
Temporal with its default retries, plain Temporal with one attempt, and Surestep; and Surestep on a
service that is blind, where a scripted human answers. Then another worker takes over.
"""

import asyncio
import os
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from surestep.embedded import embedded_server
from surestep.testing import World
from tests.steps import facts
from tests.steps.processes import Workers

from .sides import WITHIN, Ours, Plain

POINTS: Final = {
    "planned": "nothing is scheduled yet",
    "scheduled": "a worker has the attempt, and has sent nothing",
    "swallowed": "the request has left, and is not applied",
    "applied": "the request is applied, and not answered",
    "answered": "the answer is here, and is not reported",
    "recorded": "the answer is reported, and the workflow is being told",
    "parked": "a human is asked, and answers while no worker runs",
}
HELD: Final = ("planned", "scheduled", "answered")
FAULTS: Final = {"swallowed": "hang_uncommitted", "applied": "expect_kill"}
PHASES: Final = ((*HELD[:2], *FAULTS, *HELD[2:]), ("recorded",), ("parked",))
EACH: Final = 10
HOW_MANY: Final = {
    "applied": 20,
    "recorded": 5,  # a workflow can be held for two seconds only, and all must be there by then
}

ARMS: Final = (
    "plain Temporal, default retries",
    "plain Temporal, one attempt",
    "Surestep",
    "Surestep, blind service",
)


@dataclass
class Crash:
    """What became of the effects at one point under one arm.

    right       one effect, and the end says so
    duplicates  more than one
    missing     none
    denied      there is one, and the end says that it failed
    asked       a human was asked
    """

    arm: str
    point: str
    n: int = 0
    right: int = 0
    duplicates: int = 0
    missing: int = 0
    denied: int = 0
    asked: int = 0

    def count(self, effects: int, done: bool, asked: bool) -> None:
        self.n += 1
        self.right += effects == 1 and done
        self.duplicates += effects > 1
        self.missing += effects == 0
        self.denied += effects > 0 and not done
        self.asked += asked


async def crashes() -> list[dict[str, Any]]:
    with TemporaryDirectory(prefix="surestep-evidence-") as name:
        folder = Path(name)
        async with (
            embedded_server(folder / "temporal", linger=timedelta(0)) as server,
            World.start(folder=folder / "world") as world,
            AsyncExitStack() as stack,
        ):
            os.environ["WORLD_URL"] = world.url
            os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
            given = (stack, server.address, world, folder)
            done = await asyncio.gather(*(_run(arm, number, given)
                                          for number, arm in enumerate(ARMS)))  # fmt: skip
            return [asdict(one) for arm in done for one in arm]


async def _run(arm: str, number: int, given: Any) -> list[Crash]:
    """Three phases, each on a queue of its own: a step is not to meet the trap of another."""
    stack, address, world, folder = given
    client = await Client.connect(address, data_converter=pydantic_data_converter)
    results = {point: Crash(arm, point) for point in POINTS}
    for phase, points in enumerate(PHASES):
        home = folder / f"{number}-{phase}"
        home.mkdir()
        workers = Workers(stack, address, world.url, home, queue=f"crash-{number}-{phase}")
        side = (Plain if arm.startswith("plain") else Ours)(arm, client, world, workers)
        steps = {
            point: [f"crash/{number}/{point}/{n}" for n in range(HOW_MANY.get(point, EACH))]
            for point in points
        }
        match points:
            case ("recorded",):
                worker = await side.gated(len(steps["recorded"]))
                await asyncio.gather(*(side.start(one) for one in steps["recorded"]))
                await side.killed(worker, steps["recorded"])
            case ("parked",):
                await side.park(steps["parked"])
            case _:
                await _kill_all(side, world, steps)
        async with side.recovering():
            for point, ids in steps.items():
                ends = await asyncio.gather(*(side.end(one) for one in ids))
                for one, (done, asked) in zip(ids, ends, strict=True):
                    results[point].count(await world.count(f"{one}/*"), done, asked)
    return list(results.values())


async def _kill_all(side: Plain | Ours, world: World, steps: dict[str, list[str]]) -> None:
    """One worker with steps at five points, killed once all are there."""
    for point, fault in FAULTS.items():
        for one in steps[point]:
            await world.fault(f"{one}/*", write=[fault])
    hung = [one for point in FAULTS for one in steps[point]]
    held = [one for point in HELD for one in steps[point]]
    worker = await side.gated(len(held))
    await asyncio.gather(*(side.start(one) for one in hung))
    for one in hung:
        await facts.arrived(world, f"{one}/*", within=WITHIN)
    await asyncio.gather(*(side.start(one) for one in held))
    await side.killed(worker, held)
