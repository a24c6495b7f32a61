"""Steps that wait for a human, agents that wait for the steps, and the link that leads there."""

import asyncio
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from surestep import Surestep
from surestep.embedded import EmbeddedServer
from surestep.outcome import StepOutcome
from tests import prepared
from tests.steps import facts
from tests.waiting import eventually
from tests.web_ui.tools import transfer

LONG = timedelta(minutes=4)

Agents = dict[str, asyncio.Task[StepOutcome]]


@asynccontextmanager
async def waiting_agents(surestep: Surestep, *step_ids: str) -> AsyncIterator[Agents]:
    """Agents whose transfers are all parked, until the test has seen enough."""
    agents = {one: asyncio.create_task(transferred(surestep, one)) for one in step_ids}
    try:
        for step_id in step_ids:
            await eventually(surestep.handle(step_id).exists)
            await facts.parked(surestep, step_id, within=60)
        yield agents
    finally:
        for agent in agents.values():
            agent.cancel()
        await asyncio.gather(*agents.values(), return_exceptions=True)


async def transferred(surestep: Surestep, step_id: str) -> StepOutcome:
    """What an agent does: it asks for the effect, and waits."""
    invoice = step_id.rpartition("-")[2]
    action = transfer(invoice=invoice, cents=2500)
    return await surestep.run(step_id, action, label=f"invoice {invoice}", within=LONG)


async def printed_link(server: EmbeddedServer, surestep: Surestep, *step_ids: str) -> str:
    """The link to the filtered list, as `unresolved` prints it."""

    async def listed() -> bool:
        return {one.step_id for one in await surestep.unresolved()} == set(step_ids)

    await eventually(listed, within=60)
    ours = ("TEMPORAL_", "SURESTEP_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environment["SURESTEP_HOME"] = str(server.folder)
    command = await prepared.begin("starter.py", "unresolved", env=environment)
    async with asyncio.timeout(60):
        out, err = await command.communicate()
    links = re.findall(r"http\S+\?query=\S+", out.decode())
    assert links, out.decode() + err.decode()
    return links[0]
