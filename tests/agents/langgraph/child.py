"""A process with an agent: `python -m tests.agents.langgraph.child {parks|works} FILE RUN`.

`parks`: it ends with its graphs interrupted. `works`: it waits for outcomes until it is killed, in
the thread RUN/kept with every checkpoint kept, in RUN/lost with nothing kept before a turn is over.
"""

import asyncio
import sys
from datetime import timedelta

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from surestep import Surestep
from surestep.agents import AgentTools
from surestep.agents.langgraph import surestep_tools
from tests.agents.langgraph.scripted import REFUND, agent, thread, user
from tests.steps import tools


async def main(how, kept, run):
    async with Surestep.connect() as surestep, AsyncSqliteSaver.from_conn_string(kept) as saver:
        within = timedelta(seconds=0.5) if how == "parks" else None
        ours = surestep_tools(
            AgentTools(surestep, tools.blind, within=within), park=within is not None
        )
        graph = agent(ours, [[("blind", REFUND)], "done"], saver)
        if how == "parks":
            await graph.ainvoke(user(), thread(run))
        else:
            await asyncio.gather(
                graph.ainvoke(user(), thread(f"{run}/kept"), durability="sync"),
                graph.ainvoke(user(), thread(f"{run}/lost"), durability="exit"),
            )


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
