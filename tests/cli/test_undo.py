import asyncio

import pytest

from surestep import Tools
from surestep.signature import private_text
from tests.authority.people import authority, key_of
from tests.saying import say
from worker import build_worker

from . import tools
from .conftest import forgotten, late_effect, parked, until

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_step_that_has_ended_is_undone_once_however_often_it_is_typed(terminal, surestep):
    await surestep.run("undo/ended", tools.booking(to="ada"))
    shown = await terminal("show", "undo/ended")
    assert "To undo booking: python starter.py undo undo/ended/booking" in shown.shown
    first, second = await asyncio.gather(
        terminal("undo", "undo/ended", "--note", "the wrong day"),
        terminal("undo", "undo/ended/booking"),
    )
    assert (first.code, second.code) == (0, 0)
    assert first.width <= 80
    assert "step undo/ended/booking/undo" in first.shown
    assert "undo confirmed" in first.shown
    assert tools.posted.count("undo/ended/booking/undo") == 1

    after, nothing = await asyncio.gather(
        terminal("show", "undo/ended"), terminal("undo", "undo/ended/booking/undo")
    )
    assert "`python starter.py show undo/ended/booking/undo`" in after.shown
    assert "To undo booking" not in after.shown
    assert nothing.code == 7
    assert "is an undo itself" in nothing.said


async def test_an_open_step_undoes_one_action_while_a_person_is_asked_about_another(
    terminal, surestep
):
    lost = tools.letter(to="ada", fate="lost")
    await surestep.start("undo/open", tools.booking(to="ada"), lost, mode="parallel")
    await parked(surestep, "undo/open")
    unnamed, unknown, undone = await asyncio.gather(
        terminal("undo", "undo/open"),
        terminal("undo", "undo/open/letter"),
        terminal("undo", "undo/open/booking", "--note", "the wrong day"),
    )
    assert unnamed.code == 2
    assert "name one, as in undo/open/booking" in unnamed.said
    assert unknown.code == 7
    assert "in state unknown the action accepts" in unknown.shown
    assert "leave_unknown: see `python starter.py show undo/open` state" in unknown.shown
    assert undone.code == 0

    async def compensated() -> bool:
        return (await surestep.handle("undo/open").records())[0].state == "compensated"

    await until(compensated)
    again = await terminal("undo", "undo/open/booking")
    assert again.code == 7
    assert tools.posted.count("undo/open/booking/undo") == 1
    await say(surestep, "undo/open/letter", "abandon")
    await surestep.recall("undo/open")
    late = await terminal("undo", "undo/open/booking")
    assert late.code == 7
    assert "there is nothing to undo" in late.said


async def test_what_has_no_effect_or_no_undo_is_not_undone(terminal, surestep):
    await surestep.run("undo/refused", tools.letter(to="x", fate="refused"))
    await surestep.run("undo/final", tools.letter(to="ada"))
    refused, final, nobody = await asyncio.gather(
        terminal("undo", "undo/refused"),
        terminal("undo", "undo/final"),
        terminal("undo", "undo/no"),
    )
    assert (refused.code, final.code, nobody.code) == (7, 7, 4)
    assert "is rejected (nobody is called x): there is nothing to undo" in refused.said
    assert "the tool has no undo" in final.said
    assert "put it right in the service by hand" in final.said


async def test_an_effect_that_landed_late_is_undone_also_after_somebody_took_note_of_it(
    terminal, server, surestep
):
    watch_id = await late_effect(server, surestep, "undo/late", tools.crate)
    await surestep.acknowledge(watch_id)
    await surestep.client.get_workflow_handle(watch_id).result()
    undone = await terminal("undo", "undo/late", "--note", "nobody wants it any more")
    assert undone.code == 0
    assert tools.posted.count("undo/late/crate/undo") == 1


async def test_without_a_worker_an_undo_waits_for_one(elsewhere, surestep):
    alone = type(surestep)(surestep.client, task_queue="nobody")
    await alone.start("undo/later", tools.booking(to="ada"))
    left = await elsewhere("undo", "undo/later")
    assert left.code == 6
    assert "sent undo for undo/later as a signal" in left.shown
    assert "`python worker.py`" in left.said
    await forgotten(surestep, "undo/later")


async def test_where_signatures_are_demanded_an_undo_is_signed_like_any_decision(
    elsewhere, server, surestep, tmp_path
):
    queue = "undo-signed"
    terminal = elsewhere.where(SURESTEP_TASK_QUEUE=queue)
    step = type(surestep)(server.client, task_queue=queue)
    key = tmp_path / "grace.pem"
    key.write_text(private_text(key_of("grace")))
    lost = tools.letter(to="ada", fate="lost")
    served = Tools(tools.booking, tools.letter)
    async with build_worker(server.client, served, task_queue=queue, authority=authority("grace")):
        await step.start("undo/signed", tools.booking(to="ada"), lost, mode="parallel")
        await parked(step, "undo/signed")
        unsigned = await terminal("undo", "undo/signed/booking")
        assert unsigned.code == 7
        assert "not taken: it is not signed" in unsigned.shown
        signed = await terminal("undo", "undo/signed/booking", "--key", str(key))
        assert signed.code == 0, signed.shown
    assert tools.posted.count("undo/signed/booking/undo") <= 1


async def test_an_ended_step_is_undone_by_two_who_sign_where_two_must(
    elsewhere, server, surestep, tmp_path
):
    queue, files = "undo-signed", {}
    for name in ("ada", "grace"):
        files[name] = tmp_path / f"{name}.pem"
        files[name].write_text(private_text(key_of(name)))
    rules = authority("ada", "grace", two_people=[{"tools": ["booking"]}])
    terminal = elsewhere.where(SURESTEP_TASK_QUEUE=queue)
    known, step = Tools(tools.booking), type(surestep)(server.client, task_queue=queue)
    async with build_worker(server.client, known, task_queue=queue, authority=rules):
        await step.run("undo/by-two", tools.booking(to="ada"))
        unsigned = await terminal("undo", "undo/by-two")
        assert unsigned.code == 7
        assert "only signed decisions count here" in unsigned.said
        first = await terminal("undo", "undo/by-two", "--key", str(files["ada"]))
        assert first.code == 7
        assert "ada signed; one more person must sign the same, by `undo … --with" in first.said
        assert tools.posted.count("undo/by-two/booking/undo") == 0
        line = tmp_path / "first.json"
        line.write_text(first.out.splitlines()[-1])
        second = ("undo", "undo/by-two", "--with", str(line), "--key")
        same = await terminal(*second, str(files["ada"]))
        assert same.code == 7
        assert "ada has said so already" in same.said
        both = await terminal(*second, str(files["grace"]))
    assert both.code == 0, both.said
    assert tools.posted.count("undo/by-two/booking/undo") == 1
