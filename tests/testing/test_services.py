"""The native contract of each ready-made service, and of some made to measure."""

import json
from datetime import timedelta

import pytest

from surestep.testing.service import READY_MADE, Service
from surestep.testing.world import World


async def test_the_ready_made_services_are_these():
    assert list(READY_MADE) == [
        "keyed",
        "keyed_blind",
        "lookup",
        "lagging",
        "blind",
        "asynchronous",
        "fenced",
    ]


@pytest.mark.parametrize("service", ["keyed", "keyed_blind"])
async def test_a_key_replays_the_first_answer_byte_for_byte(world, caller, service):
    first = await caller.post(service, "pay")
    again = await caller.post(service, "pay")
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Location"] == first.headers["Location"]
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert await world.count("pay") == 1


async def test_one_key_with_other_bytes_is_refused(world, caller):
    await caller.post("keyed", "pay", content=b'{"cents": 2500}')
    other = await caller.post("keyed", "pay", content=b'{"cents":2500}')
    assert (other.status_code, other.json()["code"]) == (422, "key_mismatch")
    assert await world.count("pay") == 1


async def test_a_service_that_wants_a_key_refuses_a_write_without(world, caller):
    assert (await caller.post("keyed", None)).status_code == 400
    assert (await caller.post("lookup", None)).status_code == 201
    assert [effect.key for effect in await world.effects()] == [None]


@pytest.mark.parametrize("service", ["lookup", "lagging", "blind", "fenced"])
async def test_a_service_that_ignores_keys_applies_twice_and_the_judge_knows(
    world, caller, service
):
    await caller.post(service, "pay")
    await caller.post(service, "pay")
    assert await world.count("pay") == 2


async def test_equal_keys_of_two_services_do_not_meet(world, caller):
    await caller.post("keyed", "pay")
    assert "Idempotent-Replayed" not in (await caller.post("keyed_blind", "pay")).headers
    assert await world.count("pay") == 2


async def test_an_old_key_is_new_again_where_the_service_forgets(world, caller, eventually):
    async def replayed():
        return "Idempotent-Replayed" in (await caller.post("short", "pay")).headers

    assert not await replayed()
    assert await replayed()
    await eventually(replayed, False)
    assert await world.count("pay") == 2


async def test_an_old_key_is_refused_where_the_service_says_so(world, caller):
    await caller.post("strict", "pay")
    assert "Idempotent-Replayed" in (await caller.post("strict", "pay")).headers
    await world.forget("pay")
    old = await caller.post("strict", "pay")
    assert (old.status_code, old.json()["code"]) == (409, "key_expired")
    assert await world.count("pay") == 1


async def test_a_forgotten_key_lets_a_second_effect_through(world, caller):
    await caller.post("keyed", "refund/1")
    await world.forget("refund/*")
    await caller.post("keyed", "refund/1")
    assert await world.count("refund/1") == 2


async def test_a_stored_failure_is_replayed_for_ever(world, caller):
    await world.fault("pay", write=["refuse:402"])
    first = await caller.post("stubborn", "pay")
    again = await caller.post("stubborn", "pay")
    assert (again.status_code, again.content) == (402, first.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert await world.count("pay") == 0


async def test_a_stored_failure_hides_an_effect_that_exists(world, caller):
    await world.fault("pay", write=["error_after:500"])
    await caller.post("stubborn", "pay")
    assert (await caller.post("stubborn", "pay")).status_code == 500
    assert await world.count("pay") == 1


@pytest.mark.parametrize("fault", ["rate_limited:1", "refuse:401", "error_before:503", "html"])
async def test_a_failure_in_front_of_the_key_memory_is_not_stored(world, caller, fault):
    await world.fault("pay", write=[fault])
    await caller.post("stubborn", "pay")
    assert (await caller.post("stubborn", "pay")).status_code == 201
    assert await world.count("pay") == 1


async def test_a_failure_is_not_stored_where_the_service_does_not_and_nor_over_a_success(
    world, caller
):
    await world.fault("pay", write=["error_after:500"])
    await caller.post("keyed", "pay")
    assert (await caller.post("keyed", "pay")).status_code == 201
    await world.fault("other", write=["honest", "error_before:500"])
    for expected in (201, 500, 201):
        assert (await caller.post("stubborn", "other")).status_code == expected
    assert await world.count("other") == 1


async def test_a_lookup_shows_what_was_applied(world, caller):
    made = (await caller.post("lookup", "pay", {"cents": 2500})).json()
    assert await caller.seen("lookup", "pay") == [made]
    assert set(made) == {"id", "key", "body", "status", "at"}
    assert (await caller.http.get(f"/lookup/effects/{made['id']}")).json() == made
    assert await caller.seen("lookup", "other") == []
    assert await caller.seen("keyed", "pay") == []
    assert (await caller.http.get("/lookup/effects/ef_unknown")).status_code == 404


async def test_amounts_and_numbers_come_back_exactly(world, caller):
    content = b'{"account": 9007199254740993, "rate": 8.03, "name": "\\u017b"}'
    await caller.post("lookup", "pay", content=content)
    [effect] = await world.effects("pay")
    assert effect.body == json.loads(content)


@pytest.mark.parametrize("service", ["blind", "keyed_blind"])
async def test_a_blind_service_refuses_to_look(caller, service):
    made = (await caller.post(service, "pay")).json()
    assert (await caller.look(service, "pay")).status_code == 405
    assert (await caller.http.get(f"/{service}/effects/{made['id']}")).status_code == 405


async def test_a_lagging_lookup_shows_an_effect_only_after_a_while(world, caller, eventually):
    made = (await caller.post("lagging", "pay")).json()
    assert await world.count("pay") == 1
    assert await caller.seen("lagging", "pay") == []
    assert (await caller.http.get(f"/lagging/effects/{made['id']}")).status_code == 404
    await eventually(lambda: caller.seen("lagging", "pay"), [made])


async def test_an_asynchronous_service_accepts_and_applies_later(world, caller, eventually):
    accepted = await caller.post("asynchronous", "pay")
    assert accepted.status_code == 202

    async def statuses():
        return [effect["status"] for effect in await caller.seen("asynchronous", "pay")]

    assert await statuses() == ["pending"]
    assert await world.count("pay") == 0
    await eventually(statuses, ["succeeded"])
    assert await world.count("pay") == 1
    operation = (await caller.http.get(accepted.headers["Location"])).json()
    assert operation["status"] == "succeeded"


async def test_an_operation_that_lags_is_pending_until_its_effect_shows(world, caller, eventually):
    await caller.post("slow_queue", "pay")
    assert await caller.seen("slow_queue", "pay") == []
    await eventually(lambda: world.count("pay"), 1)
    shown = []

    async def last_shown():
        shown.append([effect["status"] for effect in await caller.seen("slow_queue", "pay")])
        return shown[-1]

    await eventually(last_shown, ["succeeded"])
    first_sight = shown.index(["pending"])
    assert [] not in shown[first_sight:]


@pytest.mark.parametrize("content", [b"", b"{", b'{"rate": NaN}', b"\xff"])
async def test_what_is_no_json_applies_nothing(world, caller, content):
    assert (await caller.post("lookup", "pay", content=content)).status_code == 400
    assert await world.count("pay") == 0
    assert len(await world.requests("pay")) == 1


async def test_a_place_that_does_not_exist_says_what_does(caller):
    nowhere = await caller.post("paypal", "pay")
    assert nowhere.status_code == 404
    assert "keyed_blind" in nowhere.json()["detail"]
    assert (await caller.http.get("/")).status_code == 404
    assert (await caller.http.get("/lookup/payments")).status_code == 404
    assert (await caller.http.put("/lookup/effects")).status_code == 405
    assert (await caller.http.get("/lookup/effects")).status_code == 400


@pytest.mark.parametrize("name", ["", "_world", "a/b", "Keyed"])
async def test_a_service_name_must_stand_in_a_path(name):
    with pytest.raises(ValueError, match="cannot be a service name"):
        Service(name)


async def test_negative_times_and_equal_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match="negative time"):
        Service("odd", lag=timedelta(seconds=-1))
    with pytest.raises(ValueError, match="same name"):
        async with World.start(folder=tmp_path, services=[Service("a"), Service("a")]):
            pass
