"""Agents in processes of their own."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture
async def child(temporal_address, world, tmp_path):
    """`await child(surestep, script, run, messages)` starts one; its messages are in a file."""
    started = []

    async def start(surestep, script, run, messages, **settings):
        kept = tmp_path / "messages.json"
        kept.write_text(json.dumps(messages))
        environment = os.environ | {
            "TEMPORAL_ADDRESS": temporal_address,
            "SURESTEP_TASK_QUEUE": surestep.task_queue,
            "WORLD_URL": world.url,
            "MODEL_URL": f"{script.url}/v1",
            "MESSAGES": str(kept),
            "AGENT_RUN": run,
            "PYTHONPATH": str(ROOT),
            "WITHIN": "60",
            **settings,
        }
        module = "tests.agents.chat.child"
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", module, env=environment, stderr=asyncio.subprocess.PIPE
        )
        started.append(process)
        return process, kept

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.communicate()
