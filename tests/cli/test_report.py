import asyncio

import pytest

from surestep import UnknownTool
from surestep.agents import AgentTools

from . import tools
from .conftest import parked

pytestmark = pytest.mark.asyncio(loop_scope="session")

RUN = "it's thread 7"


async def test_a_run_is_reported_for_a_person_and_as_json(terminal, surestep):
    agent = AgentTools(surestep, tools.letter)
    done = await agent.call("letter", {"to": "ada"}, run=RUN)
    complete = await terminal("report", RUN, "--tool", "letter")
    await surestep.start("report/parked", tools.letter(to="bob", fate="lost"), run=RUN)
    await parked(surestep, "report/parked")
    text, document = await asyncio.gather(
        terminal("report", RUN), terminal("report", RUN, "--json")
    )
    assert complete.code == 0
    assert f"Action {done.step_id}/letter" in complete.out
    assert (text.code, document.code) == (6, 6)
    assert "Open: it is not known yet whether it happened" in text.out
    assert document.json.keys() == {"run", "at", "tools", "deeds", "notes"}
    assert [one["standing"] for one in document.json["deeds"]] == ["done", "open"]
    assert document.json["deeds"][0].keys() == {
        "step_id", "action_id", "tool", "about", "standing", "state", "why", "effect",
        "receipt_id", "anomalies",
    }  # fmt: skip


async def test_what_could_not_be_begun_is_reported_with_its_true_reason(terminal, surestep):
    stranger = tools.lost_by("stranger")
    with pytest.raises(UnknownTool):
        await surestep.run("strangers/stranger/1", stranger(to="ada"), run="strangers")
    told = await terminal("report", "strangers", "--tool", "stranger")
    assert "stranger: without effect (nothing was sent: no tool is named" in told.shown


async def test_a_run_of_which_nothing_is_recorded_is_no_error(terminal):
    nothing = await terminal("report", "no such run")
    assert (nothing.code, "Nothing is recorded." in nothing.out) == (0, True)
