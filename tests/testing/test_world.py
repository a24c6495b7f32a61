"""Every fault of the table over real sockets: what the sender sees, and what the ledger says."""

import asyncio
import time

import httpx
import pytest

from surestep.testing.faults import LOOKUP_FAULTS, WRITE_FAULTS

LOST = httpx.RemoteProtocolError
RESET = httpx.ReadError
SILENT = httpx.ReadTimeout
GARBLED = httpx.DecodingError

# fault, what the sender sees, effects right after that, effects in the end
WRITES = [
    ("honest", 201, 1, 1),
    ("reply_lost", LOST, 1, 1),
    ("reply_reset", RESET, 1, 1),
    ("hang", SILENT, 1, 1),
    ("hang_uncommitted", SILENT, 0, 0),
    ("never_arrives", LOST, 0, 0),
    ("reset_before", RESET, 0, 0),
    ("late:0.5", LOST, 0, 1),
    ("late_hang:0.8", SILENT, 0, 1),
    ("slow:0.2", 201, 1, 1),
    ("slow_commit:0.2", 201, 1, 1),
    ("error_before:503", 503, 0, 0),
    ("error_after:500", 500, 1, 1),
    ("refuse:402", 402, 0, 0),
    ("rate_limited:2", 429, 0, 0),
    ("truncated", LOST, 1, 1),
    ("truncated_status", LOST, 1, 1),
    ("corrupt_encoding", GARBLED, 1, 1),
    ("html", 200, 1, 1),
    ("html_uncommitted", 200, 0, 0),
    ("empty", 201, 1, 1),
    ("huge:300000", 201, 1, 1),
    ("redirect:303", 303, 1, 1),
    ("redirect_uncommitted:307", 307, 0, 0),
    ("accepted:0.5", 202, 0, 1),
    ("accepted_fails:0.2", 202, 0, 0),
    ("twice", 201, 2, 2),
    ("ignore_key", 201, 1, 1),
    ("other_content", LOST, 1, 1),
    ("drip:0.2", 201, 1, 1),
    ("expect_kill", SILENT, 1, 1),
]

# fault, what the lookup sees of an effect that exists
LOOKUPS = [
    ("honest", ["pay"]),
    ("error:500", 500),
    ("hang", SILENT),
    ("reset", RESET),
    ("html", "<h1>"),
    ("empty_json", {}),
    ("miss", []),
    ("lookalike", ["pay", "somebody/else"]),
]


async def sight(send) -> int | type[Exception]:
    try:
        return (await send).status_code
    except httpx.HTTPError as error:
        return type(error)


async def test_every_fault_of_the_table_is_tried_here():
    assert [fault.partition(":")[0] for fault, *_ in WRITES] == list(WRITE_FAULTS)
    assert [fault.partition(":")[0] for fault, _ in LOOKUPS] == list(LOOKUP_FAULTS)


@pytest.mark.parametrize(("fault", "sees", "at_once", "at_last"), WRITES)
async def test_a_write_fault_shows_one_thing_and_does_another(
    world, caller, eventually, fault, sees, at_once, at_last
):
    await world.fault("pay", write=[fault])
    patience = 0.3 if sees is SILENT else 5
    assert await sight(caller.post("lookup", "pay", patience=patience)) == sees
    assert await world.count("pay") == at_once
    await eventually(lambda: world.count("pay"), at_last)
    [seen] = await world.requests("pay")
    assert seen.fault == (None if fault == "honest" else fault)


@pytest.mark.parametrize(("fault", "sees"), LOOKUPS)
async def test_a_lookup_fault_hides_or_adds_and_changes_nothing(world, caller, fault, sees):
    await caller.post("lookup", "pay")
    await world.fault("pay", lookup=[fault])
    look = caller.look("lookup", "pay", patience=0.3 if sees is SILENT else 5)
    if isinstance(sees, list):
        assert [effect["key"] for effect in (await look).json()["effects"]] == sees
    elif isinstance(sees, dict):
        assert (await look).json() == sees
    elif isinstance(sees, str):
        assert sees in (await look).text
    else:
        assert await sight(look) == sees
    assert await world.count("pay") == 1
    assert len(await caller.seen("lookup", "pay")) == 1


async def test_a_slow_answer_is_committed_at_the_start(world, caller, eventually):
    sending = asyncio.create_task(caller.post("lookup", "pay", fault="slow:0.5"))
    await eventually(lambda: world.count("pay"), 1)
    assert not sending.done()
    assert (await sending).json()["key"] == "pay"


async def test_a_slow_commit_holds_its_key_in_progress_and_survives_its_sender(
    world, caller, eventually
):
    with pytest.raises(httpx.ReadTimeout):
        await caller.post("keyed", "pay", fault="slow_commit:0.6", patience=0.1)
    second = await caller.post("keyed", "pay")
    assert (second.status_code, second.json()["code"]) == (409, "in_progress")
    assert (await caller.post("keyed", "pay", {"cents": 1})).status_code == 422
    assert await world.count("pay") == 0
    await eventually(lambda: world.count("pay"), 1)
    assert (await caller.post("keyed", "pay")).headers["Idempotent-Replayed"] == "true"
    assert await world.count("pay") == 1


async def test_a_late_hang_holds_its_key_in_progress(world, caller, eventually):
    with pytest.raises(httpx.ReadTimeout):
        await caller.post("keyed", "pay", fault="late_hang:0.5", patience=0.1)
    assert (await caller.post("keyed", "pay")).status_code == 409
    await eventually(lambda: world.count("pay"), 1)


async def test_a_late_request_meets_the_key_only_when_it_arrives(world, caller, eventually):
    with pytest.raises(LOST):
        await caller.post("keyed", "pay", fault="late:0.2")
    assert (await caller.post("keyed", "pay")).status_code == 201
    with pytest.raises(LOST):
        await caller.post("keyed", "other", fault="late:0.2")
    await eventually(lambda: world.count("other"), 1)
    assert await world.count("pay") == 1


async def test_a_rate_limit_says_when_to_come_back(caller):
    answer = await caller.post("lookup", "pay", fault="rate_limited:0.2")
    assert answer.headers["Retry-After"] == "1"


async def test_a_refusal_is_a_problem_and_an_error_is_plain_text(caller):
    refusal = await caller.post("lookup", "pay", fault="refuse:422")
    assert refusal.headers["Content-Type"] == "application/problem+json"
    assert refusal.json()["code"] == "refused"
    error = await caller.post("lookup", "pay", fault="error_before:520")
    assert (error.status_code, error.text) == (520, "upstream error 520")


async def test_a_huge_answer_has_the_size_asked_for_and_its_id(world, caller):
    answer = await caller.post("lookup", "pay", fault="huge:1000000")
    [effect] = await world.effects("pay")
    assert len(answer.content) == 1_000_000
    assert answer.json()["id"] == effect.id


async def test_dripping_bytes_make_a_whole_answer_and_take_their_time(caller):
    begun = time.monotonic()
    answer = await caller.post("lookup", "pay", fault="drip:0.3", patience=0.2)
    assert answer.json()["key"] == "pay"
    assert time.monotonic() - begun >= 0.3


async def test_following_a_307_repeats_the_write_and_a_303_reads_it(world, caller):
    caller.http.follow_redirects = True
    await world.fault("again", write=["redirect:307"])
    await world.fault("other", write=["redirect:303"])
    assert (await caller.post("lookup", "again")).status_code == 201
    assert await world.count("again") == 2
    answer = await caller.post("lookup", "other")
    assert (answer.status_code, answer.json()["key"]) == (200, "other")
    assert await world.count("other") == 1


async def test_an_accepted_write_is_an_operation_that_succeeds(world, caller, eventually):
    accepted = await caller.post("lookup", "pay", fault="accepted:0.3")
    place = accepted.headers["Location"]

    async def status():
        return (await caller.http.get(place)).json()["status"]

    assert accepted.json()["status"] == await status() == "pending"
    await eventually(status, "succeeded")
    [effect] = await world.effects("pay")
    assert (await caller.http.get(place)).json()["effect"] == effect.id


async def test_an_accepted_write_that_fails_leaves_no_effect(world, caller, eventually):
    accepted = await caller.post("lookup", "pay", fault="accepted_fails:0.2")

    async def status():
        return (await caller.http.get(accepted.headers["Location"])).json()["status"]

    await eventually(status, "failed")
    assert [effect["status"] for effect in await caller.seen("lookup", "pay")] == ["failed"]
    assert await world.count("pay") == 0


async def test_a_redelivered_write_has_two_effects_even_where_keys_are_honoured(world, caller):
    answer = await caller.post("keyed", "pay", fault="twice")
    ids = [effect.id for effect in await world.effects("pay")]
    assert len(ids) == 2
    assert answer.json()["id"] in ids
    assert (await caller.post("keyed", "pay")).json()["id"] == answer.json()["id"]
    assert await world.count("pay") == 2


async def test_a_key_that_is_ignored_once_lets_a_second_effect_through(world, caller):
    await world.fault("pay", write=["honest", "ignore_key"])
    assert (await caller.post("keyed", "pay")).status_code == 201
    again = await caller.post("keyed", "pay")
    assert "Idempotent-Replayed" not in again.headers
    assert await world.count("pay") == 2


@pytest.mark.parametrize(
    ("sent", "applied"),
    [
        ({"memo": "a", "cents": 2500}, {"memo": "a", "cents": 2501}),
        ({"memo": "a", "paid": True}, {"memo": "a", "paid": True, "changed": True}),
        ([1], {"changed": True, "was": [1]}),
    ],
)
async def test_other_content_is_applied_than_was_sent(world, caller, sent, applied):
    with pytest.raises(LOST):
        await caller.post("lookup", "pay", sent, fault="other_content")
    [effect] = await world.effects("pay")
    assert effect.body == applied


async def test_a_held_answer_comes_when_it_is_released(world, caller, eventually):
    sending = asyncio.create_task(caller.post("lookup", "pay/1", fault="expect_kill"))
    other = asyncio.create_task(caller.post("lookup", "other", fault="expect_kill"))
    await eventually(world.count, 2)
    await world.release("pay/*")
    assert (await sending).status_code == 201
    assert not other.done()
    await world.release()
    assert (await other).status_code == 201
