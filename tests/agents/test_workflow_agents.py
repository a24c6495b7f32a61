"""A framework's own agent, run as a workflow by the framework's own integration with Temporal."""

from pydantic_ai.durable_exec.temporal import PydanticAIPlugin
from temporalio.client import Client
from temporalio.worker import Replayer, Worker

from tests.agents.workflow_agents import STUBBORN, Support
from tests.steps import facts, tools


async def test_a_stubborn_model_of_an_agent_that_is_a_workflow_makes_one_effect(
    working, world, temporal_address, step_id
):
    client = await Client.connect(temporal_address, plugins=[PydanticAIPlugin()])
    async with working(tools.keyed) as surestep:
        queue = surestep.task_queue
        async with Worker(client, task_queue=f"{queue}-agents", workflows=[Support]):
            said = await client.execute_workflow(
                Support.run,
                {"intent": step_id, "queue": queue},
                id=f"{step_id}-agent",
                task_queue=f"{queue}-agents",
            )
    history = await client.get_workflow_handle(f"{step_id}-agent").fetch_history()
    await Replayer(workflows=[Support], plugins=[PydanticAIPlugin()]).replay_workflow(history)
    replies = said.splitlines()
    assert len(replies) == STUBBORN
    assert set(replies) == {replies[0]}
    assert f"[surestep: {step_id}/o-1 confirmed]" in replies[0]
    assert len(await facts.posts(world, f"{step_id}/*")) == 1
