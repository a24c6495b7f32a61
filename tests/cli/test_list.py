import asyncio

import pytest

from surestep.visibility import ANOMALY, NEEDS_HUMAN

from . import tools
from .conftest import late_effect, parked

pytestmark = pytest.mark.asyncio(loop_scope="session")

RUN = "it's run 1 % _"


async def test_steps_are_listed_by_state_and_run(terminal, surestep):
    await surestep.run("list/done", tools.letter(to="ada"), run=RUN)
    await surestep.start("list/parked", tools.letter(to="ada", fate="lost"), run=RUN)
    await parked(surestep, "list/parked")
    table, one = await asyncio.gather(
        terminal("list", "--run", RUN),
        terminal("list", "--run", RUN, "--limit", "1", "--json"),
    )
    assert (table.code, one.code) == (0, 0)
    header, *rows = table.out.splitlines()
    assert header.split() == ["STATE", "AGE", "TOOL", "RUN", "STEP"]
    assert [row.split()[0] for row in rows] == ["unknown", "confirmed"]
    assert [row.split()[-1] for row in rows] == ["list/parked", "list/done"]
    (found,) = one.json
    assert found.keys() == {
        "step_id", "state", "tools", "run", "started", "unknown_since", "needs_human", "anomalies",
    }  # fmt: skip
    assert (found["step_id"], found["run"], found["tools"]) == ("list/parked", RUN, ["letter"])
    assert "more than 1" in one.said
    none = await terminal("list", "--run", RUN, "--state", "rejected")
    assert (none.code, none.out, none.err) == (0, "", "no steps\n")


async def test_what_waits_for_a_person_is_listed_oldest_first_with_its_reason(terminal, surestep):
    for name in ("older", "newer"):
        await surestep.start(f"unresolved/{name}", tools.letter(to="ada", fate="lost"))
        await parked(surestep, f"unresolved/{name}")
    table, document = await asyncio.gather(terminal("unresolved"), terminal("unresolved", "--json"))
    assert (table.code, document.code) == (0, 0)
    ours = [one for one in document.json if one["step_id"].startswith("unresolved/")]
    assert [one["step_id"] for one in ours] == ["unresolved/older", "unresolved/newer"]
    assert ours[0].keys() == {
        "step_id", "tools", "run", "state", "anomalies", "since", "age_seconds", "url",
        "about", "why", "decided", "next", "overdue", "told",
    }  # fmt: skip
    why = "the request may have left, and this tool has no lookup"
    assert {one["why"] for one in ours} == {why}
    assert table.out.index("unresolved/older") < table.out.index("unresolved/newer")
    assert why in table.shown


async def test_an_effect_that_landed_late_is_unresolved_until_it_is_acknowledged(
    terminal, server, surestep
):
    watch_id = await late_effect(server, surestep, "unresolved/late")
    query = f"{ANOMALY} = 'late' AND {NEEDS_HUMAN} = true"
    assert (await server.client.count_workflows(query)).count > 0
    listing, table, shown = await asyncio.gather(
        terminal("unresolved", "--json"),
        terminal("unresolved"),
        terminal("show", "unresolved/late"),
    )
    (late,) = [one for one in listing.json if one["step_id"] == "unresolved/late"]
    assert late["anomalies"] == ["late"]
    assert late["why"]
    assert "take note of them: python starter.py anomalies" in table.shown
    assert "anomaly late at" in shown.shown
    assert f"python starter.py anomalies --acknowledge {watch_id}" in shown.shown
    assert shown.width <= 80
