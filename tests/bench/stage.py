"""One server with everything that works on it: client and workers in this process, as an agent
with an embedded worker has them. Floor and Surestep are measured in the same arrangement."""

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from surestep import Surestep
from surestep.connection import connection
from surestep.settings import Settings
from surestep.testing.remote import RemoteWorld
from surestep.visibility import WAITING
from tests.waiting import eventually
from worker import build_worker

from .floor import floor_worker, tuned_worker
from .meter import Meter
from .servers import Server
from .tools import Kit

QUEUE = "bench"


@dataclass
class Stage:
    """What a row works with. `wrong` holds what the ledger contradicts.

    client  Surestep's; plain: one as Temporal's own documentation makes it, for the floor
    """

    server: Server
    client: Client
    plain: Client
    surestep: Surestep
    world: RemoteWorld
    kit: Kit
    wrong: list[str]

    def cpu(self) -> tuple[float, float]:
        """Seconds of the server, and of worker and client together."""
        return self.server.meter.cpu(), Meter(os.getpid()).cpu()

    async def audit(self, what: str, keys: Iterable[str], prefix: str) -> None:
        """Each key has exactly one effect, and under the prefix there is nothing else."""
        wanted = dict.fromkeys(keys, 1)
        counted: dict[str, int] = {}
        for effect in await self.world.effects(f"{prefix}*"):
            counted[effect.key or ""] = counted.get(effect.key or "", 0) + 1
        self.wrong += verdict(what, wanted, counted)

    async def parked(self, prefix: str, count: int, within: float) -> None:
        """Until so many steps of this prefix wait for a person."""
        query = f"{WAITING} AND WorkflowId STARTS_WITH '{prefix}'"

        async def all_of_them() -> bool:
            return (await self.client.count_workflows(query)).count >= count

        await eventually(all_of_them, within=within)


def verdict(what: str, wanted: dict[str, int], counted: dict[str, int]) -> list[str]:
    """What is wrong in a ledger, in words; an empty list: nothing."""
    found = []
    for key in wanted.keys() | counted.keys():
        if wanted.get(key, 0) != counted.get(key, 0):
            found.append(
                f"{what}: {counted.get(key, 0)} effects of {key}, not {wanted.get(key, 0)}"
            )
    return sorted(found)


@asynccontextmanager
async def connected(server: Server, queue: str = QUEUE) -> AsyncIterator[Surestep]:
    """A client by the way that every user's code takes."""
    os.environ["TEMPORAL_ADDRESS"] = server.address
    async with connection(Settings(task_queue=queue)) as made:
        yield Surestep(made.client, task_queue=queue, ui_url=made.ui_url)


@asynccontextmanager
async def stage(server: Server, world: RemoteWorld, *, floor: bool = False) -> AsyncIterator[Stage]:
    async with AsyncExitStack() as stack:
        surestep = await stack.enter_async_context(connected(server))
        kit = Kit(world.url)
        worker = build_worker(surestep.client, kit.tools(), task_queue=QUEUE)
        await stack.enter_async_context(worker)
        plain = await Client.connect(server.address, data_converter=pydantic_data_converter)
        if floor:
            await stack.enter_async_context(floor_worker(plain))
            await stack.enter_async_context(tuned_worker(worker))
        yield Stage(server, surestep.client, plain, surestep, world, kit, [])
