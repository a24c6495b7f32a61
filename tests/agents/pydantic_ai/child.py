"""A process with three runs: `python -m tests.agents.pydantic_ai.child FOLDER NAME`.

`NAME/parked` is parked, and its conversation kept in a file. `NAME/same` and `NAME/other` are
killed when their tools have answered and nobody has kept their messages yet.
"""

import asyncio
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

from pydantic_ai import DeferredToolRequests
from pydantic_ai.conversation import ConversationTypeAdapter
from pydantic_ai.toolsets import WrapperToolset

from surestep import Surestep
from tests.agents.pydantic_ai.script import REFUND, calls, scripted
from tests.steps import tools

RUNS = 2
SHORT = timedelta(milliseconds=300)

parking = {
    "tool": tools.blind,
    "within": SHORT,
    "park": True,
    "output_type": [str, DeferredToolRequests],
}


class Killer(WrapperToolset):
    """Kills the process when the tools of all runs have answered."""

    all_answered = asyncio.Barrier(RUNS)

    async def call_tool(self, *args, **more):
        await super().call_tool(*args, **more)
        await self.all_answered.wait()
        os.kill(os.getpid(), signal.SIGKILL)


async def park(surestep, folder, run):
    agent, _ = scripted(surestep, calls(REFUND, tool="blind"), **parking)
    result = await agent.run("refund o-1", conversation_id=run)
    (folder / "conversation.json").write_bytes(
        ConversationTypeAdapter.dump_json(result.conversation)
    )


async def refund(surestep, run):
    agent, ours = scripted(surestep, calls(REFUND), toolsets=[])
    await agent.run("refund o-1", conversation_id=run, toolsets=[Killer(ours)])


async def main(folder, name):
    async with Surestep.connect() as surestep:
        print("serving", flush=True)
        await park(surestep, folder, f"{name}/parked")
        runs = (f"{name}/same", f"{name}/other")
        await asyncio.gather(*(refund(surestep, run) for run in runs))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
