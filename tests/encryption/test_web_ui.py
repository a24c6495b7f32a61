"""The Web UI with encryption on: through the codec server people read and decide as ever."""

import asyncio
from asyncio.subprocess import DEVNULL

import pytest

from surestep import State, Surestep, Tools
from surestep.connection import waiting_url
from surestep.embedded_folder import IP, Ports
from surestep.embedded_process import answers, command_line, find_binary, free_port
from tests.cli.conftest import Terminal
from tests.encryption.raw import history
from tests.encryption.rings import FIRST, connect
from tests.steps import facts, tools
from tests.waiting import eventually
from tests.web_ui.conftest import browser
from tests.web_ui.pages import StepList
from tests.web_ui.test_web_ui import confirms
from worker import build_worker

pytestmark = [pytest.mark.xdist_group("web_ui"), pytest.mark.timeout(300)]

__all__ = ["browser"]


@pytest.fixture
async def ports(browser, tmp_path, ring_file):
    """A server whose Web UI asks a codec server."""
    ports, http, codec = Ports(grpc=free_port(), ui=free_port()), free_port(), free_port()
    command = command_line(find_binary(), tmp_path / "temporal.db", ports, http)
    command += ["--ui-codec-endpoint", f"http://{IP}:{codec}"]
    ring = ring_file("ring").hold(FIRST)
    decoding = await Terminal(
        tmp_path,
        SURESTEP_CODEC_LISTEN=f"{IP}:{codec}",
        SURESTEP_CODEC_ORIGINS=f"http://{IP}:{ports.ui}",
        **ring.setting,
    ).begin("codec")
    server = await asyncio.create_subprocess_exec(*command, stdout=DEVNULL, stderr=DEVNULL)
    try:
        await eventually(lambda: asyncio.to_thread(answers, http))
        yield ports
    finally:
        server.kill()
        decoding.process.terminate()
        await server.wait()
        await decoding.end()


async def test_web_ui_shows_and_takes_a_decision_while_everything_is_encrypted(
    ports, browser, world, ring_file, step_id
):
    client = await connect(f"{IP}:{ports.grpc}", ring_file("ring"))
    async with build_worker(client, Tools(tools.blind), task_queue=step_id):
        surestep = Surestep(client, task_queue=step_id)
        await world.fault(f"{step_id}/*", write=["reply_lost"])
        await surestep.start(step_id, tools.blind(order="o-1", cents=1))
        await facts.parked(surestep, step_id)
        link = waiting_url(f"http://{IP}:{ports.ui}", "default")
        await asyncio.to_thread(a_person_confirms, browser, link, step_id)
        outcome = await surestep.handle(step_id).outcome()
    assert outcome.state is State.CONFIRMED
    assert "it is on the statement" in facts.told(outcome)
    raw = (await history(client, step_id)).SerializeToString()
    assert b"it is on the statement" not in raw


def a_person_confirms(browser, link: str, step_id: str) -> None:
    step = StepList(browser, link).choose(step_id)
    step.timeline("blind · attempt 1")
    step.open_details()
    assert "What happened:" in step.details()
    confirms(step, "L-1")
