"""Which request meets which fault, and what a wrong name is told."""

import hashlib

import pytest

from surestep.testing.faults import (
    LOOKUP_FAULTS,
    WRITE_FAULTS,
    BadFault,
    described,
    lookup_fault,
    spelled,
    write_fault,
)


async def test_faults_of_a_key_are_taken_in_order_and_then_the_service_is_honest(world, caller):
    await world.fault("pay", write=["error_before:500", "honest", "error_before:502"])
    statuses = [(await caller.post("lookup", "pay")).status_code for _ in range(4)]
    assert statuses == [500, 201, 502, 201]


async def test_writes_and_lookups_have_queues_of_their_own(world, caller):
    await world.fault("pay", write=["error_before:500"])
    await world.fault("pay", lookup=["error:503"])
    assert (await caller.look("lookup", "pay")).status_code == 503
    assert (await caller.post("lookup", "pay")).status_code == 500


async def test_a_prefix_meets_every_key_below_it_and_the_exact_key_comes_first(world, caller):
    await world.fault("*", write=["error_before:500"])
    await world.fault("refund/*", write=["error_before:501", "error_before:502"])
    await world.fault("refund/1", write=["error_before:503"])
    keys = ["refund/1", "refund/2", "refund/1", "refund/3", "other"]
    statuses = [(await caller.post("lookup", key)).status_code for key in keys]
    assert statuses == [503, 501, 502, 500, 201]


async def test_new_faults_replace_those_that_wait(world, caller):
    await world.fault("pay", write=["error_before:500", "error_before:501"])
    await world.fault("pay", write=[])
    assert (await caller.post("lookup", "pay")).status_code == 201


async def test_a_header_names_the_fault_of_one_request_and_takes_none_from_the_queue(world, caller):
    await world.fault("pay", write=["error_before:500"], lookup=["error:500"])
    assert (await caller.post("lookup", "pay", fault="error_before:502")).status_code == 502
    assert (await caller.look("lookup", "pay", fault="error:503")).status_code == 503
    assert (await caller.post("lookup", "pay")).status_code == 500
    assert (await caller.look("lookup", "pay")).status_code == 500


async def test_a_lookup_by_id_and_of_an_operation_meet_the_faults_of_their_key(world, caller):
    made = (await caller.post("lookup", "pay")).json()
    accepted = await caller.post("asynchronous", "pay")
    places = (f"/lookup/effects/{made['id']}", accepted.headers["Location"])
    await world.fault("pay", lookup=["miss", "miss"])
    for expected in (404, 200):
        for place in places:
            assert (await caller.http.get(place)).status_code == expected


async def test_a_lookalike_has_the_content_last_sent_even_if_nothing_was_applied(caller):
    await caller.post("lookup", "pay", {"cents": 77}, fault="error_before:500")
    [effect] = (await caller.look("lookup", "pay", fault="lookalike")).json()["effects"]
    assert effect["body"] == {"cents": 77}
    assert effect["key"] != "pay"


async def test_every_request_is_recorded_as_it_came(world, caller):
    await caller.post("keyed", "pay", content=b'{"cents": 1}', fault="error_before:500")
    await caller.look("keyed", "pay")
    await caller.fence("fenced", "pay")
    write, look, fence = await world.requests("pay")
    assert (write.method, write.path, write.key) == ("POST", "/keyed/effects", "pay")
    assert write.sha256 == hashlib.sha256(b'{"cents": 1}').hexdigest()
    assert (write.body, write.fault) == ('{"cents": 1}', "error_before:500")
    assert (look.method, look.path, look.fault) == ("GET", "/keyed/effects?key=pay", None)
    assert (fence.path, fence.key) == ("/fenced/fences", "pay")
    assert write.at.tzinfo is not None


async def test_an_unknown_fault_is_refused_with_the_nearest_one(world, caller):
    with pytest.raises(BadFault, match="'reply_lost'"):
        await world.fault("pay", write=["honest", "replylost"])
    with pytest.raises(BadFault, match="'error:CODE'"):
        await world.fault("pay", lookup=["eror:500"])
    with pytest.raises(BadFault, match="only for the other kind"):
        await world.fault("pay", write=["miss"])
    refused = await caller.post("lookup", "pay", fault="reply_list")
    assert refused.status_code == 400
    assert "'reply_lost'" in refused.json()["detail"]
    assert (await caller.look("lookup", "pay", fault="mis")).status_code == 400
    assert await world.count("pay") == 0


@pytest.mark.parametrize(
    "text",
    ["late", "late:", "late:soon", "late:-1", "late:nan", "error_before:200", "refuse:402.5",
     "redirect:500", "huge:0", "hang:3"],
)  # fmt: skip
async def test_an_argument_that_does_not_fit_is_refused(text):
    with pytest.raises(BadFault, match=text.partition(":")[0]):
        write_fault(text)


async def test_a_bad_fault_changes_nothing_that_waits(world, caller):
    await world.fault("pay", write=["error_before:500"])
    with pytest.raises(BadFault):
        await world.fault("pay", write=["honest"], lookup=["unheard_of"])
    assert (await caller.post("lookup", "pay")).status_code == 500


async def test_the_description_names_every_fault():
    for fault in (*WRITE_FAULTS.values(), *LOOKUP_FAULTS.values()):
        assert f"| `{spelled(fault)}` |" in described()
    assert lookup_fault("error:503").amount == 503
