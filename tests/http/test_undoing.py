"""Fences close a key, and compensations undo what was confirmed; both only on plain words."""

import json

import pytest

from surestep import Ambiguous, Fence, NotSent, Refused
from surestep.evidence import Finding
from surestep.http import FenceRequest, Request, Sight, Undo, UndoLookup
from tests.http import tools
from tests.http.servers import answering

KEY = "step-1/charge"
UNDO = f"{KEY}/undo"
JSON = "Content-Type: application/json"


async def fence(tool, key=KEY):
    return await tool.fence_with(tools.args(tool), tools.call(key))


async def test_a_fence_holds_where_nothing_was_applied(at_world):
    assert await fence(tools.fenced) == Fence(held=True)
    with pytest.raises(Ambiguous, match="fenced"):
        await tools.execute(tools.fenced, KEY)
    assert await at_world.count(KEY) == 0


async def test_a_fence_that_comes_too_late_tells_the_effect(at_world):
    receipt = await tools.execute(tools.fenced, KEY)
    answer = await fence(tools.fenced)
    assert (answer.held, answer.exists.id) == (False, receipt.id)


@pytest.mark.parametrize(
    "body", [{}, {"fenced": False}, {"fenced": 1}, {"fenced": None}, [], {"effect": None}]
)
async def test_a_fence_holds_only_if_the_service_says_so(body, at_raw):
    async with at_raw(answering("200 OK", json.dumps(body).encode(), JSON)):
        assert await fence(tools.fenced) == Fence(held=False)


async def test_an_empty_mark_is_found_nowhere(at_raw):
    empty = FenceRequest(Request("POST", "/fences", body=None), held={})
    tool = tools.tool("open", "x", promised={}, fence=empty)
    async with at_raw(answering("200 OK", b"{}", JSON)):
        assert await fence(tool) == Fence(held=False)


@pytest.mark.parametrize("status", ["404 Not Found", "500 Oops", "302 Found"])
async def test_a_fence_that_is_refused_raises(status, at_raw):
    async with at_raw(answering(status, b'{"fenced": true}', JSON)):
        with pytest.raises((Refused, Ambiguous)):
            await fence(tools.fenced)


async def confirmed_effect(world):
    receipt = await tools.execute(tools.undoable, KEY)
    assert await world.count(KEY) == 1
    return receipt


async def undo(tool, receipt, *, within=2.0):
    answer = tools.call(UNDO, receipt=receipt, within=within)
    return await tool.undo.execute_with(tools.args(tool), answer)


async def look(tool, receipt):
    return await tool.undo.verify_with(tools.args(tool), tools.call(UNDO, receipt=receipt))


async def test_what_was_confirmed_is_undone_under_the_undos_own_key(at_world):
    receipt = await confirmed_effect(at_world)
    assert (await look(tools.undoable, receipt)).finding is Finding.NOT_FOUND
    assert (await undo(tools.undoable, receipt)).id == receipt.id
    (effect,) = await at_world.effects(KEY)
    assert (effect.status, effect.voided_by) == ("voided", UNDO)
    assert (await look(tools.undoable, receipt)).matches[0].id == receipt.id
    assert (await tools.verify(tools.undoable, KEY)).finding is Finding.CONFIRMED  # it did happen


@pytest.mark.parametrize("fault", ["reply_lost", "never_arrives", "error_after:500", "html"])
async def test_an_undo_in_doubt_is_looked_at(fault, at_world):
    receipt = await confirmed_effect(at_world)
    await at_world.fault(UNDO, write=[fault])
    with pytest.raises(Ambiguous):
        await undo(tools.undoable, receipt)
    (effect,) = await at_world.effects(KEY)
    finding = Finding.CONFIRMED if effect.status == "voided" else Finding.NOT_FOUND
    assert (await look(tools.undoable, receipt)).finding is finding


async def test_an_undo_of_nothing_is_not_sent(at_world):
    with pytest.raises(NotSent, match=r"call\.receipt\.id"):
        await undo(tools.undoable, None)
    assert (await look(tools.undoable, None)).finding is Finding.UNKNOWN
    assert await at_world.requests() == []


async def test_an_answer_about_something_else_does_not_undo(at_raw):
    async with at_raw(answering("200 OK", b'{"id": "ef_2", "status": "voided"}', JSON)):
        assert (await look(tools.undoable, tools.Receipt(id="ef_1"))).finding is Finding.UNKNOWN


async def test_gone_means_undone_only_to_those_who_can_see(at_raw):
    def tool(sight):
        lookup = UndoLookup("/c/{call.receipt.id}", gone=frozenset({404}))
        remove = Undo(Request("DELETE", "/c/{call.receipt.id}"), lookup=lookup)
        return tools.tool("removable", "x", undo=remove, sight=sight)

    receipt = tools.Receipt(id="ef_1")
    async with at_raw(answering("404 Not Found", b"{}", JSON)):
        assert (await look(tool(None), receipt)).finding is Finding.CONFIRMED
        assert (await look(tool(Sight("/known")), receipt)).finding is Finding.UNKNOWN
    async with at_raw(answering("404 Not Found", b"<html>")):
        assert (await look(tool(None), receipt)).finding is Finding.UNKNOWN


async def test_204_is_enough_for_an_undo_and_anything_else_needs_the_id(at_raw):
    tool = tools.tool("removable", "x", undo=Undo(Request("DELETE", "/c/{call.receipt.id}")))
    async with at_raw(answering("204 No Content")) as raw:
        assert (await undo(tool, tools.Receipt(id="a/b"))).id == "a/b"
    assert raw.requests[0].startswith(b"DELETE /c/a%2Fb ")
    async with at_raw(answering("200 OK", b"<html>")):
        with pytest.raises(Ambiguous):
            await undo(tool, tools.Receipt(id="a"))
