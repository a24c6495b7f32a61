"""The page for other languages, run as it stands: the Temporal CLI, and TypeScript."""

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from surestep.embedded_process import find_binary
from tests.languages.tools import charge, letter
from tests.steps import facts
from tests.waiting import eventually

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/from-other-languages.md").read_text()
TYPESCRIPT = Path(__file__).parent / "typescript"
INSTALL = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
OFFLINE = "ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT"
ID_ON_THE_PAGE = re.compile(r"(charge/order-7781|letter/104[23])")


@pytest.fixture(autouse=True)
def _world_url(world, monkeypatch):
    monkeypatch.setenv("WORLD_URL", world.url)


@pytest.fixture
def cli(temporal_address, step_id):
    """`await cli(mark, queue)` runs the page's command that has the mark in it."""

    async def run(mark, queue, version=None):
        blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
        (command,) = [block for block in blocks if mark in block]
        command = ID_ON_THE_PAGE.sub(lambda found: f"{step_id}/{found[0]}", command)
        command = command.replace('"version": 4', f'"version": {version}')
        words = shlex.split(
            command.replace("\\\n", " ").replace("-queue surestep", f"-queue {queue}")
        )
        assert words.pop(0) == "temporal"
        running = await asyncio.create_subprocess_exec(
            find_binary(),
            *words,
            *("--address", temporal_address, "--output", "json"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        said, why = await running.communicate()
        return running.returncode, json.loads(said or b"null"), why.decode()

    return run


async def test_the_temporal_cli_starts_reads_and_asks_what_is_recorded(
    cli, working, world, step_id
):
    key = f"{step_id}/charge/order-7781/charge"
    async with working(charge) as surestep:
        queue = surestep.task_queue
        assert (await cli("workflow start", queue))[0] == 0
        _, result, _ = await cli("workflow result", queue)
        (action,) = result["result"]["actions"]
        code, _, why = await cli("workflow start", queue)
        _, recorded, _ = await cli("workflow query", queue)
    assert (action["state"], action["action_id"]) == ("confirmed", key)
    assert code != 0
    assert "already" in why
    assert recorded["queryResult"][0][0]["arguments"] == {"order": "7781", "cents": 2500}
    assert len(await facts.posts(world, key)) == 1


async def test_the_temporal_cli_decides_by_update_and_by_signal(cli, working, world, step_id):
    confirmed, abandoned = f"{step_id}/letter/1042", f"{step_id}/letter/1043"
    async with working(letter) as surestep:
        for step in (confirmed, abandoned):
            await world.fault(f"{step}/letter", write=["reply_lost"])
            await surestep.start(step, letter(customer="ada", text="hello"))
            await facts.parked(surestep, step)
        version = (await facts.parked(surestep, confirmed)).version
        _, ruling, _ = await cli("workflow update", surestep.task_queue, version)
        assert ruling["result"]["taken"]
        outcome = await surestep.handle(confirmed).outcome()
        assert outcome.actions[0].receipt.id == "L-77"
        version = (await facts.parked(surestep, abandoned)).version
        assert (await cli("workflow signal", surestep.task_queue, version))[0] == 0

        async def is_recorded():
            return "the printer never had it" in facts.told(await facts.record(surestep, abandoned))

        await eventually(is_recorded)


@pytest.fixture(scope="module")
def typescript():
    """The page's module beside the SDK from npm, installed once for each package.json."""
    if not (shutil.which("npm") and shutil.which("node")):
        pytest.skip("node and npm are not installed")
    folder = ROOT / "build/typescript"
    folder.mkdir(parents=True, exist_ok=True)
    wanted, installed = (TYPESCRIPT / "package.json").read_text(), folder / "installed.json"
    if not installed.exists() or installed.read_text() != wanted:
        (folder / "package.json").write_text(wanted)
        npm = subprocess.run(
            ["npm", "install", *INSTALL],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        if re.search(OFFLINE, npm.stderr):
            pytest.skip("npm reaches no registry")
        assert npm.returncode == 0, npm.stderr
        installed.write_text(wanted)
    shutil.copy(TYPESCRIPT / "story.mjs", folder)
    (module,) = re.findall(r"```js\n(.*?)```", PAGE, re.DOTALL)
    (folder / "steps.mjs").write_text(module)
    return folder


@pytest.mark.timeout(300)
async def test_typescript_runs_a_step_attaches_to_it_and_decides(
    typescript, temporal_address, working, world, step_id
):
    a_charge, a_letter = f"{step_id}/charge", f"{step_id}/letter"
    await world.fault(f"{a_letter}/letter", write=["reply_lost"])
    async with working(charge, letter) as surestep:
        node = await asyncio.create_subprocess_exec(
            *("node", "story.mjs", a_charge, a_letter),
            cwd=typescript,
            env=os.environ
            | {"TEMPORAL_ADDRESS": temporal_address, "SURESTEP_TASK_QUEUE": surestep.task_queue},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        told, why = await node.communicate()
    assert node.returncode == 0, why.decode()
    said = json.loads(told)
    assert said["first"] == said["again"]
    assert said["first"]["state"] == "confirmed"
    assert said["other"] == f"{a_charge} stands for something else (cents); nothing was sent"
    assert said["ruling"]["taken"]
    assert said["letter"]["receipt"]["id"] == "L-77"
    assert [len(await facts.posts(world, f"{one}/*")) for one in (a_charge, a_letter)] == [1, 1]
