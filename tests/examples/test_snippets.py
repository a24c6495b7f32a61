"""The snippets of README and docs/tools.md, run against the world and a real Temporal server."""

import ast
import asyncio
import re
import sys
from datetime import timedelta
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from pydantic import BaseModel

import surestep
import surestep.http
from surestep import State
from surestep.evidence import Sending
from surestep.tool import Call
from tests.http.servers import serving

ROOT = Path(__file__).parents[2]
LIMIT = timedelta(seconds=40)


def snippet(page, mark):
    """The first block of Python in which the mark stands."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    return next(block for block in blocks if mark in block)


async def run(code, **names):
    """Runs a snippet, which may await, and gives the names that it leaves."""
    known = {"timedelta": timedelta, "BaseModel": BaseModel, "Sending": Sending}
    known |= {name: getattr(surestep, name) for name in surestep.__all__}
    known |= {name: getattr(surestep.http, name) for name in surestep.http.__all__}
    found = known | names | {"__name__": "snippet"}
    compiled = compile(code, "snippet", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    ended = eval(compiled, found)
    if asyncio.iscoroutine(ended):
        await ended
    return found


@pytest.fixture
def billing(world, monkeypatch):
    monkeypatch.setenv("BILLING_URL", f"{world.url}/keyed")
    monkeypatch.setenv("BILLING_TOKEN", "t")
    return world


PAGES = ["README.md", "docs/tools.md"]
KEYED = "charge = HttpTool("


@pytest.mark.parametrize("page", PAGES)
def test_a_keyed_tool_with_lookup_is_fifteen_lines(page):
    lines = [line for line in snippet(page, KEYED).splitlines() if line.strip()]
    assert len([line for line in lines if not line.startswith(("from ", "import "))]) <= 15


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("fault", ["reply_lost", "never_arrives"])
async def test_the_keyed_tool_works_as_it_is_shown(page, fault, working, billing, step_id):
    charge = (await run(snippet(page, KEYED)))["charge"]
    key = f"{step_id}/charge"
    await billing.fault(key, write=[fault])
    async with working(charge) as surestep:
        outcome = await surestep.run(step_id, charge(order="o-1", cents=2500), within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert await billing.count(key) == 1


class Printer:
    """A service with a client of its own; it loses the answer to the first job."""

    def __init__(self):
        self.jobs = []

    async def submit(self, text, *, reference):
        self.jobs.append(SimpleNamespace(id=f"job-{len(self.jobs)}", reference=reference))
        if len(self.jobs) == 1:
            raise ConnectionResetError
        return self.jobs[-1]

    async def find(self, *, reference):
        return [job for job in self.jobs if job.reference == reference]


class Letter(BaseModel):
    customer: str
    text: str


async def test_a_tool_of_two_functions_works_as_it_is_shown(working, step_id):
    printer = Printer()
    code = snippet("README.md", "@letter.execute")
    letter = (await run(code, printer=printer, Letter=Letter))["letter"]
    async with working(letter) as surestep:
        outcome = await surestep.run(step_id, letter(customer="ada", text="hello"), within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert [job.reference for job in printer.jobs] == [f"{step_id}/letter"]


async def test_an_agent_runs_a_step_as_it_is_shown(working, billing, temporal_address, monkeypatch):
    charge = (await run(snippet("README.md", KEYED)))["charge"]
    acme = ModuleType("acme.tools")
    acme.charge = charge
    monkeypatch.setitem(sys.modules, "acme", ModuleType("acme"))
    monkeypatch.setitem(sys.modules, "acme.tools", acme)
    async with working(charge) as surestep:
        monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_address)
        monkeypatch.setenv("SURESTEP_TASK_QUEUE", surestep.task_queue)
        found = await run(snippet("README.md", "Surestep.connect()"))
    assert found["outcome"].state is State.CONFIRMED
    assert await billing.count("charge/order-7781/*") == 1


async def test_a_services_own_table_is_accepted():
    made = []
    await run(
        snippet("docs/tools.md", "duplicate_content"),
        Service=lambda *given, **more: made.append(surestep.http.Service(*given, **more)),
    )
    assert len(made[0].rules) == 3


@pytest.mark.parametrize("broken", ["", "/tags"])
async def test_what_comes_after_the_effect_is_never_definite(broken, step_id):
    async def answers(peer):
        target = (await peer.request()).split(b" ")[1].decode()
        await peer.answer("404 Not Found" if target == broken else "201 Created", b'{"id": "1"}')

    class Charge(BaseModel):
        order: str

    promised = surestep.Contract(effect=surestep.Effect.IRREVERSIBLE, ask=True)
    charge = surestep.Tool("charge", Charge, promised)
    async with serving(answers) as service:
        code = snippet("docs/tools.md", "with after_effect():")
        await run(code, url=service.url(), charge=charge, Charge=Charge, Call=Call)
        sending = charge.execute_with(Charge(order="o-1"), Call(f"{step_id}/charge", 1, None))
        if broken:
            with pytest.raises(surestep.Ambiguous, match="after the effect was sent"):
                await sending
        else:
            assert (await sending).id == "1"
    assert len(service.requests) == 3


async def test_the_check_of_a_sandbox_works_as_it_is_shown(billing):
    charge = (await run(snippet("docs/tools.md", KEYED)))["charge"]
    shown = await run(snippet("docs/tools.md", "await check("), charge=charge)
    await shown["test_the_sandbox_keeps_what_our_contract_promises"]()
    assert await billing.count("surestep-check/*") == 2


async def test_the_snippet_of_an_approval_asks_about_large_amounts_only():
    found = await run(snippet("docs/tools.md", "approve_if"))
    payout = found["payout"]
    assert payout.needs_approval({"account": "A-1", "cents": 100_001})
    assert not payout.needs_approval({"account": "A-1", "cents": 100_000})
