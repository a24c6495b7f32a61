"""One step for each of three services: one honours the key, one can be looked up, one is blind."""

import asyncio

from surestep import Surestep, Tool
from surestep.testing import World
from tests.steps import facts, tools
from tests.steps.operators import charge

TRIO = (tools.keyed, tools.lookup, tools.blind)
SIGHTED = (tools.keyed, tools.lookup)


def at(step_id: str, place: str) -> dict[Tool, str]:
    """The ids of the three steps, with the place in each."""
    return {tool: f"{step_id}/{place}/{tool.name}" for tool in TRIO}


async def start(surestep: Surestep, *trios: dict[Tool, str]) -> None:
    every = [(tool, one) for trio in trios for tool, one in trio.items()]
    await asyncio.gather(*(surestep.start(one, charge(tool)) for tool, one in every))


async def all_alike(world: World, step_id: str, *, effects: int, posts: int) -> None:
    """So many effects, and of so many requests the same key and the same bytes."""
    assert await world.count(f"{step_id}/*") == effects
    sent = await facts.posts(world, f"{step_id}/*")
    assert len(sent) == posts, sent
    assert len({(one.key, one.sha256) for one in sent}) == min(posts, 1)
