"""Rotation of keys on a real server: the order that is right, and what a wrong one costs."""

import asyncio
import logging
import re
from datetime import timedelta

import pytest

from surestep import State, Surestep, Tools
from surestep.encryption.errors import MissingKey, WorkerCannotAnswer
from tests.encryption.raw import key_ids
from tests.encryption.rings import FIRST, SECOND, connect
from tests.steps import facts, tools
from tests.steps.acting import acting_worker, deciding_worker
from tests.steps.processes import Process
from tests.waiting import eventually

WAITS = "waits for its key"
LIMIT = timedelta(seconds=90)


async def confirm(surestep: Surestep, step_id: str, version: int) -> None:
    ruling = await surestep.decide(
        step_id, "confirm", by="Ada", receipt_id="L-77", version=version, note="in the outbox"
    )
    assert ruling.taken


async def test_rotation_while_actions_wait_loses_nothing(
    temporal_address, workers, world, ring_file, step_id
):
    """First the new key everywhere, then it is current, then the old one is retired."""
    rings = [ring_file(name).hold(FIRST) for name in ("one", "other", "agent")]

    async def started() -> list[Process]:
        starting = (workers.start("worker.py", **ring.setting) for ring in rings[:2])
        return await asyncio.gather(*starting)

    before = await started()
    surestep = Surestep(await connect(temporal_address, rings[2]), task_queue=workers.queue)
    old, older, oldest, new = (f"{step_id}/{name}" for name in ("old", "older", "oldest", "new"))
    await world.fault(f"{step_id}/old*", write=["reply_lost"] * 3)
    for one in (old, older, oldest):
        await surestep.start(one, tools.blind(order="o-1", cents=2500))
    versions = {one: (await facts.parked(surestep, one)).version for one in (old, older, oldest)}

    for ring in rings:
        ring.hold(FIRST, SECOND, current=FIRST)
    for ring in rings:
        ring.hold(FIRST, SECOND)
    await asyncio.gather(*(worker.kill() for worker in before))
    now = await started()
    surestep = Surestep(await connect(temporal_address, rings[2]), task_queue=workers.queue)
    outcome = await surestep.run(new, tools.keyed(order="o-2", cents=100))
    assert outcome.state is State.CONFIRMED
    assert await key_ids(surestep.client, new) == {SECOND}
    await confirm(surestep, old, versions[old])
    assert (await surestep.handle(old).outcome()).state is State.CONFIRMED
    assert await key_ids(surestep.client, old) == {FIRST, SECOND}

    for ring in rings:  # too early: a step still waits that began under it
        ring.hold(SECOND)
    reader = Surestep(await connect(temporal_address, rings[2]), task_queue=workers.queue)
    with pytest.raises(MissingKey, match=rf"{FIRST}.*{rings[2].path}.*Nothing is lost"):
        await reader.handle(old).submitted()
    await asyncio.gather(*(worker.kill() for worker in now))
    keyless = await workers.start("worker.py", **rings[0].setting)
    deciding = asyncio.create_task(confirm(reader, older, versions[older]))
    with pytest.raises(WorkerCannotAnswer, match=f"'{FIRST}'.*{rings[0].path} does not have"):
        await reader.handle(oldest).records()
    said = {"verdict": "confirm", "by": "Ada", "receipt_id": "L-78", "version": versions[oldest]}
    await reader.client.get_workflow_handle(oldest).signal("decide", said)
    await keyless.says(f"under the key '{FIRST}'")
    for ring in rings:
        ring.hold(FIRST, SECOND)
    await deciding
    for one in (older, oldest):
        assert (await reader.handle(one).outcome()).state is State.CONFIRMED
        assert len(await facts.posts(world, f"{one}/*")) == 1


async def test_rotation_that_begins_with_use_stops_an_attempt_before_it_is_sent(
    temporal_address, world, ring_file, step_id, caplog
):
    """The worker that acts lacks the key, and is even stopped while it waits for it."""
    acting = ring_file("acting").hold(FIRST)
    deciding = await connect(temporal_address, ring_file("deciding").hold(FIRST, SECOND))
    surestep, known = Surestep(deciding, task_queue=step_id), Tools(tools.blind)
    async with deciding_worker(deciding, known, step_id):
        lacking = acting_worker(await connect(temporal_address, acting), known, task_queue=step_id)
        with caplog.at_level(logging.ERROR):
            async with lacking:
                await surestep.start(step_id, tools.blind(order="o-1", cents=2500))
                await eventually(lambda: said(caplog, f"{WAITS}.*{SECOND}"))
        acting.hold(FIRST, SECOND)
        async with acting_worker(
            await connect(temporal_address, acting), known, task_queue=step_id
        ):
            outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED, facts.told(outcome)
    assert "was not sent: the worker was lost before it sent anything" in facts.told(outcome)
    assert "asked" not in facts.told(outcome)
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def said(caplog: pytest.LogCaptureFixture, words: str) -> bool:
    return bool(re.search(words, caplog.text))


async def test_rotation_that_begins_with_use_stops_a_worker_without_the_key_until_it_has_it(
    temporal_address, workers, world, ring_file, step_id
):
    ring, theirs = ring_file("worker").hold(FIRST), ring_file("agent").hold(FIRST, SECOND)
    surestep = Surestep(await connect(temporal_address, theirs), task_queue=workers.queue)
    without = await workers.start("worker.py")
    await surestep.start(step_id, tools.keyed(order="o-1", cents=2500))
    await without.says("SURESTEP_ENCRYPTION_KEYS is not set. Set it")
    await without.kill()
    lacking = await workers.start("worker.py", **ring.setting)
    await lacking.says(f"under the key '{SECOND}', which {ring.path} does not have")
    assert await world.requests(f"{step_id}/*") == []
    ring.hold(FIRST, SECOND, current=FIRST)
    outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert len(await facts.posts(world, f"{step_id}/*")) == 1
