"""A Pydantic AI agent that runs as a workflow, by Pydantic AI's own integration with Temporal."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic_ai import Agent, RunContext
    from pydantic_ai.durable_exec.temporal import PydanticAIWorkflow, TemporalDurability
    from pydantic_ai.messages import (
        ModelMessage,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
    )
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from surestep.agents.in_workflow import step_reply
    from tests.steps import tools

STUBBORN = 3


def insists(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Calls again and again, with ever new call ids, and then repeats what it was told."""
    told = [part for one in messages for part in one.parts if isinstance(part, ToolReturnPart)]
    if len(told) < STUBBORN:
        return ModelResponse(parts=[ToolCallPart("refund", {"order": "o-1", "cents": 2500})])
    return ModelResponse(parts=[TextPart("\n".join(str(one.content) for one in told))])


agent = Agent(
    FunctionModel(insists, model_name="scripted"),
    name="support",
    deps_type=dict,
    capabilities=[TemporalDurability()],
)


@agent.tool(metadata={"temporal": False})  # no activity: the step is a child of this workflow
async def refund(ctx: RunContext[dict], order: str, cents: int) -> str:
    """Pay money back to the customer of an order."""
    step, queue = f"{ctx.deps['intent']}/{order}", ctx.deps["queue"]
    return str(await step_reply(step, tools.keyed(order=order, cents=cents), task_queue=queue))


@workflow.defn
class Support(PydanticAIWorkflow):
    __pydantic_ai_agents__ = (agent,)

    @workflow.run
    async def run(self, deps: dict[str, str]) -> str:
        return (await agent.run("Refund order o-1", deps=deps)).output
