"""A fence against commits: whichever comes first, both sides say the same."""

import asyncio

import pytest


async def test_a_fence_makes_an_absence_final(world, caller):
    assert (await caller.fence("fenced", "pay")).json() == {"fenced": True}
    assert (await caller.fence("fenced", "pay")).json() == {"fenced": True}
    refused = await caller.post("fenced", "pay")
    assert (refused.status_code, refused.json()["code"]) == (409, "fenced")
    assert await world.count("pay") == 0
    assert (await caller.post("fenced", "other")).status_code == 201


async def test_a_fence_that_comes_too_late_names_the_effect(world, caller):
    made = (await caller.post("fenced", "pay")).json()
    assert (await caller.fence("fenced", "pay")).json() == {"fenced": False, "effect": made}
    assert (await caller.post("fenced", "pay")).status_code == 201


@pytest.mark.parametrize("fault", ["late:0.2", "late_hang:0.2", "slow_commit:0.2", "accepted:0.2"])
@pytest.mark.parametrize("service", ["fenced", "keyed_fenced"])
async def test_what_is_in_flight_when_the_fence_comes_never_commits(
    world, caller, eventually, fault, service
):
    async def arrived(key):
        return len(await world.requests(key))

    sending = asyncio.create_task(caller.post(service, "pay", fault=fault))
    await eventually(lambda: arrived("pay"), 1)
    assert (await caller.fence(service, "pay")).json() == {"fenced": True}
    later = asyncio.create_task(caller.post(service, "later", fault=fault))
    await eventually(lambda: world.count("later"), 1)
    assert await world.count("pay") == 0
    for task in (sending, later):
        task.cancel()
    await asyncio.gather(sending, later, return_exceptions=True)


async def test_many_writes_against_one_fence_never_lie(world, caller):
    for number in range(20):
        key = f"pay/{number}"
        write, fence = await asyncio.gather(
            caller.post("fenced", key, fault="slow_commit:0.001"), caller.fence("fenced", key)
        )
        fenced = fence.json()["fenced"]
        assert write.status_code == (409 if fenced else 201)
        assert await world.count(key) == (0 if fenced else 1)


async def test_a_service_without_fences_does_not_pretend(caller):
    assert (await caller.fence("lookup", "pay")).status_code == 405
