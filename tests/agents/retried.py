"""A workflow around an agent, whose turns are activities, as users write it; it is retried."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from temporalio import activity

    from surestep import Surestep
    from surestep.agents import AgentTools
    from tests.agents.frameworks import FRAMEWORKS
    from tests.steps import tools


@workflow.defn
class Retried:
    """Its first run fails, for the model refuses the second request of its turn."""

    @workflow.run
    async def run(self, framework: str) -> list[str]:
        info = workflow.info()
        told: list[str] = await workflow.execute_activity(
            "turn",
            args=[framework, info.workflow_id, info.attempt],
            start_to_close_timeout=timedelta(seconds=60),
            retry_policy=RetryPolicy(maximum_attempts=1),
        )
        return told


class Turns:
    """A process of the agent: it remembers nothing of earlier ones."""

    def __init__(self, surestep: Surestep) -> None:
        self._surestep = surestep

    @activity.defn
    async def turn(self, framework: str, run: str, attempt: int) -> list[str]:
        """What the tools have told. The run is named by the workflow's id, as `attempt` may not."""
        call = [("keyed", {"order": "o-1", "cents": 2500})]
        end = RuntimeError("status 400") if attempt == 1 else "done"
        agent = AgentTools(self._surestep, tools.keyed)
        return await FRAMEWORKS[framework](agent, run, [call, end])
