"""Steps that the server has forgotten, by `workflow delete` or by retention, and that come again.

Nothing is left then that a new run could recognise. What protects is the key, and the look before
the first send; a blind service has neither, so no test of it is here.
"""

import asyncio
from contextlib import suppress
from datetime import timedelta
from itertools import chain

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import (
    DeleteWorkflowExecutionRequest,
)
from temporalio.service import RPCError

from surestep import NoSuchStep, State, Surestep
from surestep.tool import Tools
from tests.steps import facts, tools
from tests.steps.namespaces import new_namespace
from tests.steps.operators import LIMIT, SIGHTED, charge, one_effect_under_one_key
from tests.steps.server import Server
from tests.waiting import eventually
from worker import build_worker

PROMPT = {
    "system.namespaceMinRetentionLocal": '"1s"',
    "history.retentionTimerJitterDuration": '"1s"',
    # Otherwise a deletion takes half a minute.
    "history.transferProcessorUpdateAckInterval": '"200ms"',
    "history.visibilityProcessorUpdateAckInterval": '"200ms"',
    "history.timerProcessorUpdateAckInterval": '"200ms"',
}


@pytest.fixture
async def forgetful(tmp_path):
    """A server that forgets quickly what it is told to forget."""
    flags = [("--dynamic-config-value", f"{name}={value}") for name, value in PROMPT.items()]
    server = Server(tmp_path, more=tuple(chain.from_iterable(flags)))
    await server.start()
    try:
        client = await server.client()
        async with build_worker(client, Tools(*SIGHTED), task_queue="q", grace=timedelta(0)):
            yield Surestep(client, task_queue="q")
    finally:
        await server.end()


async def delete(surestep: Surestep, step_id: str) -> None:
    client = surestep.client
    await client.workflow_service.delete_workflow_execution(
        DeleteWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=step_id),
        )
    )


async def gone(surestep: Surestep, step_id: str) -> None:
    async def is_gone() -> bool:
        await asyncio.sleep(0.1)
        return not await surestep.handle(step_id).exists()

    await eventually(is_gone, within=60)


async def finds_its_effect(surestep, world, tool, step_id) -> None:
    """It is confirmed by the same effect; the record says by what."""
    (effect,) = await world.effects(f"{step_id}/*")
    outcome = await surestep.run(step_id, charge(tool), within=LIMIT)
    assert outcome.state is State.CONFIRMED, facts.told(outcome)
    assert outcome.actions[0].receipt.id == effect.id
    if tool is not tools.keyed:
        assert "a look before the send found it" in facts.told(outcome)
    requests = 2 if tool is tools.keyed else 1
    await one_effect_under_one_key(world, f"{step_id}/{tool.name}", requests=requests)


async def test_a_deleted_step_that_comes_again_finds_its_effect(forgetful, world, step_id):
    ids = {
        (tool, how): f"{step_id}/{how}/{tool.name}"
        for tool in SIGHTED
        for how in ("closed", "open")
    }
    for (tool, how), one in ids.items():
        if how == "open":
            await world.fault(f"{one}/*", write=["expect_kill"])
        await forgetful.start(one, charge(tool))
    for (_, how), one in ids.items():
        await facts.applied(world, f"{one}/*")
        if how == "closed":
            await forgetful.handle(one).outcome(within=LIMIT)
        await delete(forgetful, one)
    for (tool, _), one in ids.items():
        await gone(forgetful, one)
        assert await forgetful.recall(one) is None
        with pytest.raises(NoSuchStep):
            await forgetful.decide(one, "retry")
        await finds_its_effect(forgetful, world, tool, one)


async def test_submissions_in_the_moment_of_a_deletion_start_the_step_or_attach(
    forgetful, world, step_id
):
    ids = [f"{step_id}/{number}" for number in range(4)]

    async def until_it_is_new(one: str) -> None:
        first = (await forgetful.handle(one).describe()).run_id
        await delete(forgetful, one)

        async def is_new() -> bool:
            await forgetful.start(one, charge(tools.keyed))
            with suppress(RPCError):  # gone, right after it was attached to
                return (await forgetful.handle(one).describe()).run_id != first
            return False

        await eventually(is_new, within=60)
        await forgetful.run(one, charge(tools.keyed), within=LIMIT)

    await asyncio.gather(*(forgetful.run(one, charge(tools.keyed)) for one in ids))
    await asyncio.gather(*(until_it_is_new(one) for one in ids))
    for one in ids:
        await one_effect_under_one_key(world, f"{one}/keyed", requests=2)


async def test_a_step_that_retention_has_removed_finds_its_effect(forgetful, world, step_id):
    ids = {tool: f"{step_id}/{tool.name}" for tool in SIGHTED}
    client = await new_namespace(forgetful.client, "brief", retention=timedelta(seconds=1))
    async with build_worker(client, Tools(*SIGHTED), task_queue="q", grace=timedelta(0)):
        surestep = Surestep(client, task_queue="q")
        await asyncio.gather(*(surestep.run(one, charge(tool)) for tool, one in ids.items()))
        for tool, one in ids.items():
            await gone(surestep, one)
            await finds_its_effect(surestep, world, tool, one)
