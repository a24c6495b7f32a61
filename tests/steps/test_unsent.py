"""An attempt that was not sent, above all one that no worker took, proves that and nothing else."""

import asyncio
from copy import copy
from datetime import timedelta

import pytest
from pydantic import BaseModel

from surestep import (
    Ambiguous,
    Contract,
    Effect,
    NotSent,
    Receipt,
    State,
    Surestep,
    Tool,
)
from surestep.tool import Tools
from tests.steps import facts, tools
from tests.steps.acting import acting_worker, deciding_worker
from tests.steps.operators import LIMIT, charge, one_effect_under_one_key
from tests.waiting import eventually

NO_WORKER = "was not sent: no worker took it in time"
LOST, UNREACHED = Ambiguous("the answer was lost"), NotSent("connection refused")


class Nothing(BaseModel):
    pass


def impatient(tool: Tool) -> Tool:
    """The tool, where an attempt waits for a worker for a second only."""
    known = copy(tool)
    known.contract = tool.contract.model_copy(update={"queue": timedelta(seconds=1)})
    return known


async def told(surestep, step_id, words, *, times: int = 1) -> bool:
    known = await facts.record(surestep, step_id)
    return bool(known) and facts.told(known).count(words) >= times


async def test_an_attempt_that_no_worker_takes_was_not_sent_and_is_made_when_one_comes(
    client, world, step_id
):
    registry = Tools(*(impatient(tool) for tool in (tools.keyed, tools.lookup, tools.blind)))
    surestep = Surestep(client, task_queue=step_id)
    async with deciding_worker(client, registry, step_id):
        for tool in registry:
            await surestep.start(f"{step_id}/{tool.name}", charge(tool))
        for tool in registry:
            one = f"{step_id}/{tool.name}"
            await eventually(lambda one=one: told(surestep, one, NO_WORKER))
        assert await world.requests(f"{step_id}/*") == []
        async with acting_worker(client, registry, task_queue=step_id):
            for tool in registry:
                outcome = await surestep.handle(f"{step_id}/{tool.name}").outcome(within=LIMIT)
                assert outcome.state is State.CONFIRMED, facts.told(outcome)
                key = f"{step_id}/{tool.name}/{tool.name}"
                await one_effect_under_one_key(world, key, requests=1)


async def test_a_doubt_outlives_an_attempt_that_no_worker_takes(client, world, step_id):
    """The first attempt's reply was lost; the second one finds no worker, and says nothing."""
    keyed = impatient(tools.keyed_blind)
    registry, surestep = Tools(keyed), Surestep(client, task_queue=step_id)
    await world.fault(f"{step_id}/*", write=["reply_lost"] * 9)
    async with deciding_worker(client, registry, step_id):
        async with acting_worker(client, registry, task_queue=step_id):
            await surestep.start(step_id, charge(keyed))
            await facts.applied(world, f"{step_id}/*")
        await eventually(lambda: told(surestep, step_id, NO_WORKER))
        record = await facts.record(surestep, step_id)
        assert record.doubt
        assert record.state is State.SENT
        await world.fault(f"{step_id}/*", write=[])
        async with acting_worker(client, registry, task_queue=step_id):
            outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    await one_effect_under_one_key(world, f"{step_id}/keyed_blind")


@pytest.mark.parametrize(
    "ends", [[LOST, UNREACHED], [UNREACHED, LOST]], ids=["after it", "before it"]
)
async def test_a_clean_failure_does_not_erase_an_attempt_in_doubt(ends, working, step_id):
    calls = iter(ends)
    contract = Contract(effect=Effect.IRREVERSIBLE, key=tools.KEYED, in_flight=timedelta(0))
    tool, keys = Tool("pay", Nothing, contract), []

    @tool.execute
    async def _(args, call) -> Receipt:
        keys.append(call.action_id)
        for failure in calls:
            raise failure
        await asyncio.Event().wait()

    async with working(tool) as surestep:
        await surestep.start(step_id, tool())
        await eventually(lambda: told(surestep, step_id, f"attempt {len(ends) + 1} dispatched"))
        record = await facts.record(surestep, step_id)
        assert record.doubt, facts.told(record)
        assert record.spent == ends.count(LOST)
    assert set(keys) == {f"{step_id}/pay"}
