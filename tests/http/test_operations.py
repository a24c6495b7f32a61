"""Accepted requests are followed to their end; 202 is never a confirmation."""

import json
from datetime import timedelta

import pytest

from surestep import Accepted, Receipt
from surestep.evidence import Finding
from surestep.http import Lookup, Operations, Service, States, env
from tests.http import tools
from tests.http.servers import answering
from tests.waiting import eventually

KEY = "step-1/charge"
JSON = "Content-Type: application/json"


def following(operations, **parts):
    return tools.raw(operations=operations, promised={"ask": True}, **parts)


def saying(status, document, *headers):
    return answering(status, json.dumps(document).encode(), JSON, *headers)


async def test_an_operation_is_accepted_polled_and_then_confirmed(at_world):
    await at_world.fault(KEY, write=["accepted:0.3"])
    accepted = await tools.execute(tools.queued, KEY)
    assert isinstance(accepted, Accepted)
    assert accepted.receipt.id.startswith("/asynchronous/operations/")
    assert (await tools.verify(tools.queued, KEY, receipt=accepted.receipt)).finding == "pending"
    assert await at_world.count(KEY) == 0
    await eventually(lambda: at_world.count(KEY))
    seen = await tools.verify(tools.queued, KEY, receipt=accepted.receipt)
    (effect,) = await at_world.effects(KEY)
    assert seen.finding is Finding.CONFIRMED
    assert seen.matches[0].id == effect.id  # the operation does not tell it; the lookup does


async def test_an_operation_that_fails_is_rejected(at_world):
    await at_world.fault(KEY, write=["accepted_fails:0"])
    accepted = await tools.execute(tools.queued, KEY)
    seen = await tools.verify(tools.queued, KEY, receipt=accepted.receipt)
    assert (seen.finding, seen.why) == (Finding.REJECTED, "the operation ended failed")


@pytest.mark.parametrize("receipt", [None, "/asynchronous/operations/op_gone", "ef_17"])
async def test_an_operation_that_cannot_be_asked_for_leaves_the_effect_itself(receipt, at_world):
    await at_world.fault(KEY, write=["accepted:0"])
    await tools.execute(tools.queued, KEY)
    await eventually(lambda: at_world.count(KEY))
    seen = await tools.verify(tools.queued, KEY, receipt=receipt)
    assert seen.finding is Finding.CONFIRMED


async def test_without_lookup_a_forgotten_operation_is_unknown(at_raw):
    async with at_raw(saying("404 Not Found", {})):
        seen = await tools.verify(following(Operations()), KEY, receipt="/op/7")
    assert (seen.finding, "no longer knows" in seen.why) == (Finding.UNKNOWN, True)


async def test_the_id_and_the_pause_of_an_operation_are_kept(at_raw):
    tool = following(Operations("/ops/{call.receipt.id}", id="/operation"))
    async with at_raw(saying("202 Accepted", {"operation": 7}, "Retry-After: 30")):
        accepted = await tools.execute(tool, KEY)
    assert accepted == Accepted(receipt=Receipt(id="7", status="accepted"), look_after=30)
    async with at_raw(saying("200 OK", {"status": "pending"}, "Retry-After: 60")) as raw:
        first = await tools.verify(tool, KEY, receipt="7")
        second = await tools.verify(tool, KEY, receipt="7")
    assert [first.finding, second.finding] == [Finding.PENDING, Finding.PENDING]
    assert raw.requests[0].startswith(b"GET /ops/7 ")
    assert raw.connections == 1


async def test_the_pause_ends(at_raw):
    tool = following(Operations())
    async with at_raw(saying("200 OK", {"status": "pending"}, "Retry-After: 0")) as raw:
        for _ in range(2):
            await tools.verify(tool, KEY, receipt="/op/7")
    assert raw.connections == 2
    tool._pace.pause(KEY, timedelta(seconds=30))
    assert tool._pace.left(KEY) > 25
    tool._pace.pause(KEY, None)
    assert tool._pace.left(KEY) == 0


@pytest.mark.parametrize(
    ("location", "kept"),
    [
        ("/ops/7?v=1", "/ops/7?v=1"),
        ("ops/7", "/ops/7"),
        ("https://elsewhere.example/ops/7", None),
        ("//elsewhere.example/ops/7", None),
        ("/" + "x" * 600, None),
        ("", None),
    ],
)
async def test_a_location_is_followed_at_the_same_service_only(location, kept, at_raw):
    tool = following(Operations())
    async with at_raw(saying("202 Accepted", {}, f"Location: {location}")):
        accepted = await tools.execute(tool, KEY)
    assert accepted.receipt.id == kept


async def test_a_location_below_a_base_with_a_path_is_not_doubled(at_raw):
    async with at_raw(saying("202 Accepted", {}, "Location: /api/ops/7")) as raw:

        async def base():
            return f"{raw.url()}/api"

        tool = following(Operations(), service=Service(base))
        accepted = await tools.execute(tool, KEY)
        await tools.verify(tool, KEY, receipt=accepted.receipt)
    assert raw.requests[1].startswith(b"GET /api/ops/7 ")


@pytest.mark.parametrize(
    ("answer", "finding"),
    [
        (saying("200 OK", {"status": "running"}), Finding.UNKNOWN),
        (saying("200 OK", {}), Finding.UNKNOWN),
        (saying("200 OK", []), Finding.UNKNOWN),
        (answering("200 OK", b"<html>"), Finding.UNKNOWN),
        (saying("500 Oops", {"status": "succeeded"}), Finding.UNKNOWN),
        (saying("302 Found", {"status": "succeeded"}), Finding.UNKNOWN),
        (saying("200 OK", {"status": "succeeded", "effect": "ch_1"}), Finding.CONFIRMED),
    ],
)
async def test_only_known_words_end_an_operation(answer, finding, at_raw):
    async with at_raw(answer):
        seen = await tools.verify(following(Operations(effect="/effect")), KEY, receipt="/op/7")
    assert seen.finding is finding
    if finding is Finding.CONFIRMED:
        assert seen.matches[0].id == "ch_1"


@pytest.mark.parametrize(
    ("answer", "finding"),
    [
        (answering("202 Accepted"), Finding.PENDING),
        (answering("200 OK"), Finding.CONFIRMED),
        (answering("204 No Content"), Finding.CONFIRMED),
        (answering("303 See Other", b"", "Location: /things/1"), Finding.CONFIRMED),
        (answering("302 Found", b"", "Location: /login"), Finding.UNKNOWN),
        (answering("500 Oops"), Finding.UNKNOWN),
    ],
)
async def test_a_service_may_tell_by_status_alone(answer, finding, at_raw):
    async with at_raw(answer):
        seen = await tools.verify(following(Operations(states=None)), KEY, receipt="/op/7")
    assert seen.finding is finding


async def test_a_success_answer_may_be_a_beginning_only(at_raw):
    shape = tools.Shape(states=States())
    async with at_raw(saying("201 Created", {"id": "1", "status": "pending"})):
        accepted = await tools.execute(tools.raw(shape=shape), KEY)
    assert accepted.receipt == Receipt(id="1", status="pending")
    async with at_raw(saying("201 Created", {"id": "1"})):
        tool = following(Operations(statuses=frozenset({201, 202}), poll="/o/{call.receipt.id}"))
        assert isinstance(await tools.execute(tool, KEY), Accepted)


async def test_202_is_accepted_although_nobody_said_how_to_follow_it(at_raw):
    async with at_raw(saying("202 Accepted", {"id": "1"})):
        accepted = await tools.execute(tools.raw(), KEY)
    assert accepted == Accepted(receipt=Receipt(id="1"))


async def test_a_lookup_that_lags_does_not_undo_what_the_operation_says(at_raw):
    async def behaviour(peer):
        target = (await peer.request()).split(b" ")[1]
        document = {"status": "succeeded"} if target.startswith(b"/op") else {"effects": []}
        await peer.answer("200 OK", json.dumps(document).encode(), JSON)

    tool = tools.tool(
        "t",
        "x",
        service=Service(env("SERVICE_URL")),
        operations=Operations(),
        lookup=Lookup("/effects", items="/effects"),
    )
    async with at_raw(behaviour) as raw:
        seen = await tools.verify(tool, KEY, receipt="/op/7")
    assert seen.finding is Finding.CONFIRMED
    assert raw.connections == 2
