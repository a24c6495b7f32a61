"""Undoing an effect, with and without faults."""

import httpx
import pytest


async def test_a_void_undoes_once_and_says_by_whom(world, caller):
    made = (await caller.post("lookup", "pay")).json()
    voided = await caller.delete("lookup", made["id"], "pay/undo")
    assert (voided.status_code, voided.json()["status"]) == (200, "voided")
    again = await caller.delete("lookup", made["id"], "other/undo")
    assert again.content == voided.content
    [effect] = await world.effects("pay")
    assert (effect.status, effect.voided_by) == ("voided", "pay/undo")
    assert await world.count("pay") == 1
    assert (await caller.delete("lookup", "ef_unknown")).status_code == 404
    assert (await caller.delete("keyed", made["id"])).status_code == 404


async def test_the_reply_to_a_void_can_be_lost_or_its_work_late(world, caller, eventually):
    await world.fault("*", write=["honest", "reply_lost", "honest", "late:0.2"])

    async def status(key):
        return [effect.status for effect in await world.effects(key)]

    for key, at_once in (("a", ["voided"]), ("b", ["succeeded"])):
        made = (await caller.post("lookup", key)).json()
        with pytest.raises(httpx.RemoteProtocolError):
            await caller.delete("lookup", made["id"], f"{key}/undo")
        assert await status(key) == at_once
        await eventually(lambda key=key: status(key), ["voided"])


async def test_a_fault_that_a_void_cannot_have_is_refused(world, caller):
    made = (await caller.post("lookup", "pay")).json()
    refused = await caller.delete("lookup", made["id"], fault="twice")
    assert (refused.status_code, refused.json()["code"]) == (400, "bad_fault")
    assert [effect.status for effect in await world.effects("pay")] == ["succeeded"]
