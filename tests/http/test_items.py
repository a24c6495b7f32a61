"""A service that takes batches only: each action sends a batch of one and reads its own result."""

import json
from datetime import timedelta

import pytest

from surestep import Accepted, Ambiguous, ContractError, Receipt, Refused, State
from surestep.evidence import Sending
from surestep.http import Item, Operations, Request, Rule, Service, Shape, env
from tests.http import tools
from tests.http.servers import answering

KEY = "step-1/charge"
JSON = "Content-Type: application/json"
OURS = {"key": KEY, "status": 201, "body": {"id": "ch_1"}}
OTHERS = {"key": "step-1/other", "status": 201, "body": {"id": "ch_9"}}
ITEM = Item("/results", key="/key", document="/body")
ONE = {"items": [{"key": "{call.key}", "body": {"order": "{order}", "cents": "{cents}"}}]}

batched = tools.tool(
    "batched", "lookup", request=Request("POST", "/lookup/batches", body=ONE), item=ITEM
)


def saying(status, *results, headers=()):
    document = {"id": "batch-7", "results": list(results)}
    return answering(status, json.dumps(document).encode(), JSON, *headers)


def of(status, **body):
    return {"key": KEY, "status": status, "body": body}


async def sent(at_raw, behaviour, *, item=ITEM, **parts):
    async with at_raw(behaviour) as raw:
        try:
            return await tools.execute(tools.raw(item=item, **parts), KEY)
        finally:
            assert raw.connections == 1


@pytest.mark.parametrize("status", ["200 OK", "207 Multi-Status"])
async def test_the_result_under_our_key_is_ours(status, at_raw):
    assert await sent(at_raw, saying(status, OTHERS, OURS)) == Receipt(id="ch_1")


@pytest.mark.parametrize(
    ("result", "error", "again", "words"),
    [
        (of(400), Refused, False, "400 Bad Request"),
        (of(422, code="negative"), Refused, False, r"for our item 422 .* \(negative\)"),
        (of(429, code="slow_down"), Refused, True, "429 Too Many Requests"),
        (of(401), Refused, True, "401"),
        (of(500), Ambiguous, None, "500"),
        (of(503), Ambiguous, None, "503"),
        (of(409), Ambiguous, None, "409"),
        (of(303), Ambiguous, None, "303"),
        (of(422, code="key_mismatch"), Ambiguous, None, "other content"),
        (of(409, code="in_progress"), Refused, True, "still being worked on"),
        (of(200), Ambiguous, None, "no id"),
        (of(204), Ambiguous, None, "no id"),
        ({**OURS, "status": True}, Ambiguous, None, "no status"),
        ({**OURS, "status": "ok"}, Ambiguous, None, "no status"),
        ({**OURS, "status": 2}, Ambiguous, None, "no status"),
        ({**OURS, "status": None}, Ambiguous, None, "no status"),
        ({"key": KEY}, Ambiguous, None, "no status"),
        (OTHERS, Ambiguous, None, "no results for our item"),
        ("what", Ambiguous, None, "no results for our item"),
        (None, Ambiguous, None, "no results for our item"),
    ],
)  # fmt: skip
async def test_our_own_status_is_read_by_the_general_table(result, error, again, words, at_raw):
    with pytest.raises(error, match=words) as caught:
        await sent(at_raw, saying("207 Multi-Status", OTHERS, result))
    if again is not None:
        assert caught.value.again is again


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (saying("207 Multi-Status"), Ambiguous),
        (saying("207 Multi-Status", OURS, OURS), Ambiguous),
        (answering("207 Multi-Status", b'{"results": {}}', JSON), Ambiguous),
        (answering("207 Multi-Status", b"<html>"), Ambiguous),
        (answering("200 OK", b"{}", JSON), Ambiguous),
        (saying("201 Created", OURS), Ambiguous),
        (saying("400 Bad Request", OURS), Refused),
        (saying("429 Too Many Requests", OURS), Refused),
        (saying("503 Unavailable", OURS), Ambiguous),
    ],
)
async def test_where_the_whole_says_something_else_our_result_counts_for_nothing(
    behaviour, error, at_raw
):
    with pytest.raises(error):
        await sent(at_raw, behaviour, shape=Shape(id="/results/0/nothing"))


async def test_the_pause_that_the_whole_asks_for_is_kept(at_raw):
    busy = saying("207 Multi-Status", of(429), headers=["Retry-After: 7"])
    with pytest.raises(Refused) as caught:
        await sent(at_raw, busy)
    assert caught.value.retry_after == timedelta(seconds=7)


async def test_a_services_own_rules_are_for_its_items_too(at_raw):
    full = Rule(503, Sending.REFUSED_FOR_NOW, why="its queue is full")
    with pytest.raises(Refused, match="its queue is full"):
        await sent(
            at_raw,
            saying("207 Multi-Status", of(503)),
            service=Service(env("SERVICE_URL"), rules=(full,)),
        )


async def test_a_batch_of_one_may_be_answered_without_keys(at_raw):
    alone = Item("/results", document="/body")
    assert await sent(at_raw, saying("200 OK", OURS), item=alone) == Receipt(id="ch_1")
    with pytest.raises(Ambiguous, match="2 results"):
        await sent(at_raw, saying("200 OK", OURS, OTHERS), item=alone)


async def test_results_and_status_may_be_made_by_functions(at_raw):
    two_lists = Item(
        lambda said: said["successful"] + said["failed"],
        key="/id",
        status=lambda one: (400 if one["mine"] else 503) if "code" in one else 200,
    )
    shape = Shape(id="/message")

    def said(successful, failed):
        document = {"successful": successful, "failed": failed}
        return answering("200 OK", json.dumps(document).encode(), JSON)

    taken = said([{"id": KEY, "message": "m-1"}], [])
    assert await sent(at_raw, taken, item=two_lists, shape=shape) == Receipt(id="m-1")
    for mine, error in ((True, Refused), (False, Ambiguous)):
        refused = said([], [{"id": KEY, "code": "x", "mine": mine}])
        with pytest.raises(error):
            await sent(at_raw, refused, item=two_lists, shape=shape)


async def test_an_item_may_succeed_without_content_or_be_accepted(at_raw):
    empty = Shape(empty=frozenset({204}))
    nothing = {"key": KEY, "status": 204}
    assert await sent(at_raw, saying("207 Multi-Status", nothing), shape=empty) == Receipt()
    following = Operations("/operations/{call.receipt.id}", id="/operation")
    taken = saying("207 Multi-Status", of(202, operation="op-7"))
    accepted = await sent(at_raw, taken, operations=following)
    assert accepted == Accepted(receipt=Receipt(id="op-7", status="accepted"))
    with pytest.raises(ContractError, match=r"Operations\(poll=…\)"):
        tools.raw(item=ITEM, operations=Operations())


async def test_207_is_no_success_by_the_id_of_the_batch(at_raw):
    with pytest.raises(Ambiguous, match="each item has a status of its own"):
        await sent(at_raw, saying("207 Multi-Status", of(400)), item=None)
    marked = Shape(id="/results/0/body/id", success={"/results/0/status": 201})
    receipt = await sent(at_raw, saying("207 Multi-Status", OURS), item=None, shape=marked)
    assert receipt == Receipt(id="ch_1")


@pytest.mark.parametrize("fate", ["reply_lost", "never_arrives"])
async def test_each_item_of_a_batch_ends_by_itself(fate, working, at_world, step_id):
    """Two go well, one is told to come back, one is refused, one is missing from the answer."""
    names = ["ada", "bob", "cleo", "dan", "eve"]
    for name, faults in {"cleo": ["rate_limited:1"], "dan": ["refuse:400"], "eve": [fate]}.items():
        await at_world.fault(f"{step_id}/{name}", write=faults)
    actions = [batched(order=name, cents=2500).named(name) for name in names]
    async with working(batched) as surestep:
        outcome = await surestep.run(
            step_id, *actions, mode="parallel", within=timedelta(seconds=40)
        )
    states = [one.state for one in outcome.actions]
    assert states == [State.CONFIRMED] * 3 + [State.REJECTED, State.CONFIRMED]
    keys = [f"{step_id}/{name}" for name in names]
    assert [await at_world.count(key) for key in keys] == [1, 1, 1, 0, 1]
    asked = [[one.method for one in await at_world.requests(key)].count("POST") for key in keys]
    assert asked == [1, 1, 2, 1, 1 if fate == "reply_lost" else 2]
