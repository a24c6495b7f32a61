"""The production layout: encrypted, signed, with two workers that are replaced under load."""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from itertools import count
from signal import SIGCONT, SIGSTOP

import httpx
import pytest
import pytest_asyncio
from google.protobuf.json_format import MessageToDict, Parse
from temporalio.api.common.v1 import Payloads

from surestep import State, StepPending, Surestep
from surestep.connection import connection
from surestep.demo.part import Part
from surestep.demo.programme import SCENES
from surestep.demo.stage import Stage
from surestep.demo.table import Found, judge
from surestep.demo.tools import letter
from surestep.demo.transcript import Transcript
from surestep.settings import Settings
from tests.authority.people import key_of
from tests.postgresql.server import primary
from tests.production.layout import ADA, Layout
from tests.steps import facts
from tests.steps.operators import charge
from tests.steps.trio import TRIO
from tests.waiting import eventually

SETTLED = timedelta(seconds=60)

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(400)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def layout(tmp_path_factory):
    with primary() as bank:
        async with AsyncExitStack() as stack:
            layout = Layout(tmp_path_factory.mktemp("production"), stack, bank)
            await layout.start()
            yield layout


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def surestep(layout):
    """What an agent uses, with the key ring."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEMPORAL_ADDRESS", layout.server.address)
        settings = Settings(encryption_keys=layout.secret("encryption-keys"))
        async with connection(settings) as connected:
            yield Surestep(connected.client)


class ByHand(Stage):
    """The stage of the demo is the layout; the demo starts nothing."""

    reach = "here"


async def test_the_demo_s_scenarios_pass_in_it(layout, surestep):
    stage = ByHand(surestep, layout.world, None, None, signing_key=key_of(ADA))  # type: ignore[arg-type]

    async def play(number, scene):
        part = Part(
            stage,
            Transcript(to_stderr=True),
            number=number,
            step_id=scene.step_id,
            action=scene.action,
            patience=timedelta(seconds=0.5),
        )
        await layout.world.fault(f"{scene.step_id}/*", write=scene.faults)
        also = await scene.play(part)
        return judge(
            number,
            scene.title,
            scene.step_id,
            scene.expected,
            Found(await part.known(), len(await part.effects()), also),
        )

    rows = await asyncio.gather(*(play(number, scene) for number, scene in SCENES.items()))
    assert len(rows) == 9
    assert [row.wrong for row in rows if row.wrong] == []
    assert [row.settled for row in rows if row.asked] == [f"by the word of {ADA}"]


async def test_only_the_codec_server_shows_what_the_server_keeps(layout, surestep):
    text = "Your contract ends in August."
    await surestep.run("letter/4", letter(customer="4", text=text), within=SETTLED)
    history = await surestep.client.get_workflow_handle("letter/4").fetch_history()
    assert text not in history.to_json()
    (kept,) = history.events[0].workflow_execution_started_event_attributes.input.payloads
    assert text.encode() not in kept.data
    async with httpx.AsyncClient(verify=False, trust_env=False) as http:
        asked = {"payloads": [MessageToDict(kept)]}
        answer = await http.post(f"{layout.codec_url}/decode", json=asked)
    shown = Parse(answer.raise_for_status().content, Payloads())
    assert text.encode() in shown.payloads[0].data
    assert '"decode"' in layout.running["codec"].log, "and says that it has"


async def test_a_tool_on_its_own_postgresql_commits_once(layout, surestep):
    from examples.transfer import transfer

    outcome = await surestep.run("transfer/7", transfer(account="ada", cents=700), within=SETTLED)
    assert outcome.state is State.CONFIRMED
    assert layout.bank.ask("SELECT account, cents FROM transfers") == [("ada", 700)]
    assert layout.bank.ask("SELECT action_id FROM surestep_actions") == [("transfer/7/transfer",)]


async def test_workers_are_replaced_under_load_and_nobody_is_asked(layout, surestep):
    world = layout.world
    keys: set[str] = set()
    over = asyncio.Event()

    async def submit(step_id, tool):
        keys.add(f"{step_id}/{tool.name}")
        await surestep.start(step_id, charge(tool))

    async def settled(step_id):
        try:
            return await surestep.handle(step_id).outcome(within=SETTLED)
        except StepPending:
            raise AssertionError(facts.told(await facts.record(surestep, step_id))) from None

    async def agent(name):
        """One step after the other, each when the one before is settled."""
        for number in count():
            if over.is_set():
                return
            tool = TRIO[number % len(TRIO)]
            await submit(f"load/{name}/{number}", tool)
            await settled(f"load/{name}/{number}")

    async def replace(name):
        """Requests are under way when it is told to stop, and until its successor works."""
        held = {f"held/{name}/{tool.name}/{number}": tool for tool in TRIO for number in range(3)}
        await world.fault(f"held/{name}/*", write=["expect_kill"] * len(held))
        await asyncio.gather(*(submit(one, tool) for one, tool in held.items()))

        async def all_are_under_way():
            return await world.count(f"held/{name}/*") == len(held)

        await eventually(all_are_under_way, within=60)
        leaving = layout.running[name]
        leaving.process.terminate()
        assert await leaving.asked("/healthz") == (200, "lives")
        assert await leaving.asked("/readyz") == (503, "it is stopping")
        await layout.up(name)
        await world.release()
        assert await asyncio.wait_for(leaving.process.wait(), 60) == 0, leaving.log

    async with asyncio.TaskGroup() as group:
        for name in ("ada", "bob"):
            group.create_task(agent(name))
        await replace("worker-1")
        await replace("worker-2")
        over.set()

    for outcome in await asyncio.gather(*(settled(key.rpartition("/")[0]) for key in keys)):
        told = facts.told(outcome)
        assert outcome.state is State.CONFIRMED, told
        assert "confirmed by the service's response" in told
        assert "a human is asked" not in told, told
    applied = [one.key for pattern in ("load/*", "held/*") for one in await world.effects(pattern)]
    sent = [one.key for one in await world.requests() if one.method == "POST" and one.key in keys]
    assert sorted(applied) == sorted(sent) == sorted(keys)
    assert len(keys) > 18, "there was load beside what was held"


async def test_a_worker_that_hangs_is_unhealthy_and_one_in_an_outage_is_only_not_ready(layout):
    worker = layout.running["worker-1"]
    assert await worker.asked("/readyz") == (200, "asks for work")
    await layout.server.end()
    status, why = await worker.asked("/readyz")
    assert (status, why.split(":")[0]) == (503, "the server does not answer")
    assert await worker.asked("/healthz") == (200, "lives")
    worker.process.send_signal(SIGSTOP)
    assert await worker.asked("/healthz", within=1) == (0, "")
    worker.process.send_signal(SIGCONT)
    await layout.server.start()
