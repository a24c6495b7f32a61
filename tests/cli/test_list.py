import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from surestep.protocol import WATCH_WORKFLOW, WatchInput
from surestep.visibility import ANOMALY, NEEDS_HUMAN

from . import tools
from .conftest import parked, until

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
        "step_id", "tools", "run", "state", "anomalies", "since", "age_seconds", "why", "url",
    }  # fmt: skip
    why = "the request may have left, and this tool has no lookup"
    assert {one["why"] for one in ours} == {why}
    assert table.out.index("unresolved/older") < table.out.index("unresolved/newer")
    assert why in table.shown


async def test_an_effect_that_landed_late_is_unresolved_until_it_is_acknowledged(
    terminal, server, surestep
):
    outcome = await surestep.run("unresolved/late", tools.parcel(to="ada"))
    assert outcome.state == "not_found"
    await watch_from_an_hour_ago(server, surestep, "unresolved/late")
    tools.found_later.add("unresolved/late/parcel")

    async def found_late() -> bool:
        (record,) = await surestep.handle("unresolved/late/watch-early").records()
        return bool(record.anomalies)

    await until(found_late)

    async def listed() -> bool:
        query = f"{ANOMALY} = 'late' AND {NEEDS_HUMAN} = true"
        return (await server.client.count_workflows(query)).count > 0

    await until(listed)
    listing, shown = await asyncio.gather(
        terminal("unresolved", "--json"), terminal("show", "unresolved/late")
    )
    (late,) = [one for one in listing.json if one["anomalies"] == ["late"]]
    assert late["step_id"] == "unresolved/late"
    assert late["why"]
    assert "anomaly late at" in shown.shown
    assert "--workflow-id unresolved/late/watch-early" in shown.out
    assert "--name acknowledge" in shown.out


async def watch_from_an_hour_ago(server, surestep, step_id: str) -> None:
    """The step's own watch looks for the first time after a minute; this one looks at once."""
    (record,) = await surestep.handle(step_id).records()
    closed = record.closed.model_copy(update={"at": datetime.now(UTC) - timedelta(hours=1)})
    looks = record.looks.model_copy(update={"at": None})
    old = record.model_copy(update={"closed": closed, "looks": looks})
    await server.client.start_workflow(
        WATCH_WORKFLOW,
        WatchInput(step_id=step_id, visible=True, records=(old,)),
        id=f"{step_id}/watch-early",
        task_queue=surestep.task_queue,
    )
