"""A batch: every item meets its own fault, and is told of by itself, or not at all."""


async def batch(caller, *names, service="keyed"):
    items = [{"key": f"b/{name}", "body": {"order": name}} for name in names]
    answer = await caller.http.post(f"/{service}/batches", json={"items": items})
    return answer, {one["key"]: one for one in answer.json().get("results", [])}


async def test_each_item_has_an_answer_of_its_own(world, caller):
    await world.fault("b/refused", write=["refuse:400"])
    await world.fault("b/busy", write=["rate_limited:1"])
    await world.fault("b/broken", write=["error_after:500"])
    names = ["fine", "refused", "busy", "broken"]
    answer, results = await batch(caller, *names)
    assert answer.status_code == 207
    assert [results[f"b/{name}"]["status"] for name in names] == [201, 400, 429, 500]
    assert results["b/broken"]["body"] is None
    assert [await world.count(f"b/{name}") for name in names] == [1, 0, 0, 1]
    (effect,) = await world.effects("b/fine")
    assert results["b/fine"]["body"]["id"] == effect.id


async def test_an_item_whose_answer_is_lost_is_missing_from_the_others(world, caller):
    await world.fault("b/lost", write=["reply_lost"])
    await world.fault("b/gone", write=["never_arrives"])
    _, results = await batch(caller, "lost", "fine", "gone")
    assert list(results) == ["b/fine"]
    assert [await world.count(f"b/{name}") for name in ("lost", "gone")] == [1, 0]


async def test_an_items_key_is_honoured_as_any_other(world, caller):
    _, first = await batch(caller, "fine")
    _, again = await batch(caller, "fine")
    assert first == again
    assert await world.count("b/fine") == 1
    assert len(await world.requests("b/fine")) == 2


async def test_what_is_no_batch_applies_nothing(world, caller):
    for content in ([], {}, {"items": {}}, {"items": [{"key": "b/x"}]}, {"items": [1]}):
        answer = await caller.http.post("/keyed/batches", json=content)
        assert (answer.status_code, answer.json()["code"]) == (400, "no_batch")
    mixed = {"items": [{"key": "b/x", "body": {}}, {"key": 7, "body": {}}]}
    assert (await caller.http.post("/keyed/batches", json=mixed)).status_code == 400
    assert await world.count() == 0
