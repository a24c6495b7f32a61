"""A process with three runs: `python -m tests.agents.openai_agents.child FOLDER NAME`.

`NAME/parked` is parked, and its state kept in a file. `NAME/same` and `NAME/other` are killed when
their tools have answered and their sessions do not have it yet.
"""

import asyncio
import json
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

from agents import AgentHooks, Runner, SQLiteSession, set_tracing_disabled

from surestep import Surestep
from surestep.agents import agent_run
from tests.agents.openai_agents.script import REFUND, calls, scripted
from tests.steps import tools

RUNS = 2
SHORT = timedelta(milliseconds=300)


class Killer(AgentHooks):
    """Kills the process when the tools of all runs have answered."""

    def __init__(self):
        self._all_answered = asyncio.Barrier(RUNS)

    async def on_tool_end(self, *args, **more):
        await self._all_answered.wait()
        os.kill(os.getpid(), signal.SIGKILL)


async def park(surestep, folder, run):
    script = calls(REFUND, tool="blind")
    agent, _ = scripted(surestep, script, tool=tools.blind, within=SHORT, park=True)
    with agent_run(run):
        result = await Runner.run(agent, "refund o-1")
    (folder / "state.json").write_text(json.dumps(result.to_state().to_json()))


async def refund(surestep, folder, run, hooks):
    agent, _ = scripted(surestep, calls(REFUND), hooks=hooks)
    session = SQLiteSession(run, folder / "sessions.db")
    with agent_run(run):
        await Runner.run(agent, "refund o-1", session=session)


async def main(folder, name):
    set_tracing_disabled(True)
    async with Surestep.connect() as surestep:
        print("serving", flush=True)
        await park(surestep, folder, f"{name}/parked")
        hooks = Killer()
        runs = (f"{name}/same", f"{name}/other")
        await asyncio.gather(*(refund(surestep, folder, run, hooks) for run in runs))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
