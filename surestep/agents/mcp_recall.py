"""The tool by which an MCP client asks for the outcome of a call that it did not wait for."""

from typing import Any, Final

import mcp_types as types

from surestep.agents.agent_tools import AgentTools
from surestep.agents.reply import Reply, pending, refused, settled, stopped, unfit
from surestep.agents.scope import Scope, prefix
from surestep.errors import (
    CannotConnect,
    InvalidArguments,
    InvalidStepId,
    StepFailed,
    UnknownTool,
)
from surestep.handle import StepHandle, StepPending
from surestep.identity import check_step_id
from surestep.outage import told_as

RECALL: Final = "surestep_recall"

RECALLS: Final = types.Tool(
    name=RECALL,
    description=(
        "The outcome of an action that was called before, by the step id in its reply: "
        "[surestep: STEP_ID STATE]. It does nothing but wait and look."
    ),
    input_schema={
        "type": "object",
        "properties": {"step_id": {"type": "string"}},
        "required": ["step_id"],
        "additionalProperties": False,
    },
    annotations=types.ToolAnnotations(read_only_hint=True),
)


async def recalled(tools: AgentTools, scope: Scope, arguments: dict[str, Any]) -> Reply:
    """The reply of a step of this run; of other runs nothing is told."""
    try:
        step_id = check_step_id(arguments.get("step_id", ""))
    except InvalidStepId as error:
        return refused(str(error))
    handle = tools.surestep.handle(step_id)
    try:
        tool = await _tool(tools, scope, handle)
    except CannotConnect:
        return pending(step_id, step_id)
    if tool is None:
        return refused(f"This run has no step {step_id}.")
    try:
        return settled(await handle.outcome(within=tools.within))
    except StepPending:
        return pending(step_id, tool)
    except (InvalidArguments, InvalidStepId, UnknownTool) as error:
        return unfit(step_id, str(error))
    except StepFailed:
        return stopped(step_id, tool)


async def _tool(tools: AgentTools, scope: Scope, handle: StepHandle) -> str | None:
    """The tool of the step; None: there is no such step, or it is another run's."""
    with told_as(tools.surestep.client, f"Whether there is a step {handle.step_id!r} is not known"):
        if not await handle.exists():
            return None
        step = await handle.submitted()
    ours = handle.step_id.startswith(f"{prefix(scope.run)}/") or step.run == scope.run
    return step.actions[0].tool if ours else None
