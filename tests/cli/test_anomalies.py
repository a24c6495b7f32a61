import asyncio

import pytest

from . import tools
from .conftest import late_effect, parked, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

FIELDS = {"step_id", "tools", "run", "state", "anomalies", "started", "watch_id"}


async def test_what_contradicts_a_record_is_listed_until_somebody_has_taken_note_of_it(
    terminal, server, surestep
):
    await surestep.run("anomalies/twice", tools.parcel(to="ada", fate="twice"))
    await late_effect(server, surestep, "anomalies/late")
    await surestep.start("anomalies/orphan", tools.letter(to="ada", fate="lost"))
    await parked(surestep, "anomalies/orphan")
    await surestep.client.get_workflow_handle("anomalies/orphan").terminate("a mistake")

    async def ours() -> dict[str, object]:
        found = await surestep.anomalies()
        return {one.step_id: one for one in found if one.step_id.startswith("anomalies/")}

    async def three() -> bool:
        return len(await ours()) == 3

    await until(three)
    listed, document, shown = await asyncio.gather(
        terminal("anomalies"), terminal("anomalies", "--json"), terminal("show", "anomalies/late")
    )
    assert (listed.code, document.code) == (10, 10)
    found = {one["step_id"]: one for one in document.json if one["step_id"] in await ours()}
    assert {name: one["anomalies"] for name, one in found.items()} == {
        "anomalies/twice": ["duplicate"],
        "anomalies/late": ["late"],
        "anomalies/orphan": ["orphaned"],
    }
    assert all(one.keys() == FIELDS for one in found.values())
    assert found["anomalies/orphan"]["watch_id"] is None
    assert "Nobody looks any more. Submit the same step again" in listed.shown
    assert listed.out.splitlines()[0].split() == ["ANOMALY", "AGE", "TOOL", "STEP"]

    watch = found["anomalies/late"]["watch_id"]
    command = f"python starter.py anomalies --acknowledge {watch}"
    assert command in listed.shown
    assert command in shown.shown
    wrong, orphan = await asyncio.gather(
        terminal("anomalies", "--acknowledge", "anomalies/late"),
        terminal("anomalies", "--acknowledge", "anomalies/orphan"),
    )
    assert (wrong.code, orphan.code) == (4, 4)
    assert f"is the step; acknowledge its watch, {watch}" in wrong.said
    assert "is orphaned: submit the same step again" in orphan.said
    assert (await terminal("anomalies", "--acknowledge", watch)).code == 0

    async def two() -> bool:
        return "anomalies/late" not in await ours()

    await until(two)
    again = await terminal("anomalies", "--acknowledge", watch)
    assert again.code == 4
    assert "no anomaly waits under" in again.said


async def test_a_duplicate_in_a_step_that_goes_on_waits_for_its_end(terminal, surestep):
    twice = tools.parcel(to="ada", fate="twice")
    lost = tools.letter(to="ada", fate="lost")
    await surestep.start("anomalies/open", twice, lost, mode="parallel")
    await parked(surestep, "anomalies/open")

    async def marked() -> bool:
        return "anomalies/open" in {one.step_id for one in await surestep.anomalies()}

    await until(marked)
    listed, early = await asyncio.gather(
        terminal("anomalies"), terminal("anomalies", "--acknowledge", "anomalies/open")
    )
    assert "The step is still open. After its end this waits to be acknowledged." in listed.shown
    assert early.code == 4
    assert "is still open" in early.said
