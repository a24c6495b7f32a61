"""An agent process of its own: `python -m tests.agents.chat.child` runs what the folder holds."""

import asyncio
import json
import os
import sys
from datetime import timedelta
from pathlib import Path

from surestep import Surestep
from surestep.agents import AgentTools
from surestep.agents.chat import ChatAgent, ChatModel, ChatTools
from tests.steps import tools


def read(kept: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(kept.read_text())
    return found


def write(kept: Path, messages: list[dict[str, object]]) -> None:
    kept.write_text(json.dumps(messages))


def touch(path: Path) -> None:
    path.touch()


async def main() -> None:
    kept, run = Path(os.environ["MESSAGES"]), os.environ["AGENT_RUN"]

    async def save(messages: list[dict[str, object]]) -> None:
        if "HOLD" in os.environ and messages[-1]["role"] == "tool":
            touch(Path(os.environ["HOLD"]))
            await asyncio.Event().wait()  # it is killed here: told, and not written down
        write(kept, messages)

    within = timedelta(seconds=float(os.environ["WITHIN"]))
    async with Surestep.connect() as surestep:
        agent = AgentTools(surestep, tools.keyed, tools.blind, within=within)
        model = ChatModel(os.environ["MODEL_URL"], "scripted")
        chat = ChatAgent(ChatTools(agent), model, save=save, park=True)
        end = await chat.run(read(kept), run=run)
    sys.exit(f"ended as {end.finish}")


if __name__ == "__main__":
    asyncio.run(main())
