"""Agents that are workflows, as users write them: in the sandbox, with Temporal's own converter."""

import asyncio
from dataclasses import dataclass

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from surestep.workflow import run_step
    from tests.steps import tools

TOOLS = {tool.name: tool for tool in tools.tools}


@dataclass
class Job:
    """then: what becomes of the agent after its first step: "", "fail", "continue"."""

    step_id: str
    queue: str
    tool: str = "keyed"
    cents: int = 2500
    then: str = ""
    limit: float | None = None


@workflow.defn
class Refunding:
    """Refunds, and says what became of it."""

    @workflow.run
    async def run(self, job: Job) -> str:
        action = TOOLS[job.tool](order="o-1", cents=job.cents)
        try:
            async with asyncio.timeout(job.limit):
                outcome = await run_step(job.step_id, action, task_queue=job.queue)
        except TimeoutError:
            outcome = await run_step(job.step_id, action, task_queue=job.queue)
        first = workflow.info().attempt == 1 and workflow.info().continued_run_id is None
        if job.then == "fail" and first:
            raise ApplicationError("the agent crashed after its step")
        if job.then == "continue" and first:
            workflow.continue_as_new(job)
        return f"{outcome.state} {outcome.run}"
