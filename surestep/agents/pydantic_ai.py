"""Surestep in Pydantic AI: a toolset, each of whose calls is a step.

    Agent(model, toolsets=[SurestepToolset(AgentTools(surestep, refund))])

The run is named by the `conversation_id` that the caller gave, or that the history has kept.
"""

import asyncio
import re
from typing import Any, Final

from surestep.agents.agent_tools import AgentTools
from surestep.agents.conversation import Asked, Conversation
from surestep.agents.declaration import description, schema
from surestep.agents.reply import Reply
from surestep.agents.scope import agent_run, scope_of
from surestep.agents.transcript import Transcript

try:
    import pydantic_ai as ai
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
except ImportError as error:
    raise ImportError("this needs Pydantic AI: pip install 'surestep[pydantic-ai]'") from error

from pydantic_core import SchemaValidator, core_schema

REMEDY: Final = (
    "pass agent.run(conversation_id='…'), the same after a restart and no UUID of version 7, for "
    "such are what Pydantic AI makes up"
)

_KEPT: Final = "surestep"
_MADE_UP: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
# The arguments are checked by the tool's own model, whose words a model can act on.
_ANYTHING: Final = SchemaValidator(core_schema.any_schema())


class SurestepToolset(AbstractToolset[Any]):
    """The tools of an agent, as a toolset.

    park  a call whose step is not settled within `AgentTools(within=…)` ends the run with
          `DeferredToolRequests`, which must be among the agent's output types; `results` goes on
    """

    def __init__(self, tools: AgentTools, *, park: bool = False, id: str = "surestep") -> None:
        self._tools = tools
        self._park = park
        self._id = id

    @property
    def id(self) -> str:
        """Names the toolset for frameworks of durable execution."""
        return self._id

    async def get_tools(self, ctx: ai.RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """Each tool as it is declared."""
        return {
            tool.name: ToolsetTool(
                toolset=self,
                tool_def=ai.ToolDefinition(
                    name=tool.name,
                    description=description(tool),
                    parameters_json_schema=schema(tool),
                    metadata={_KEPT: tool.name},
                ),
                max_retries=ctx.max_retries,
                args_validator=_ANYTHING,
            )
            for tool in self._tools
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: ai.RunContext[Any], tool: ToolsetTool[Any]
    ) -> ai.ToolReturn:
        """Perform the call. Raises CallDeferred to park it, and InvalidArguments for a run
        without a name that lasts."""
        run = scope_of(_lasting(ctx), REMEDY).run
        reply = await self._tools.call(
            name, tool_args, run=run, conversation=self._conversation(name, ctx), remedy=REMEDY
        )
        if self._park and reply.is_pending:
            raise ai.CallDeferred({_KEPT: {"run": run, "tool": name}})
        return _told(reply)

    async def results(self, parked: ai.DeferredToolRequests) -> ai.DeferredToolResults:
        """What has become of the parked calls, for `agent.run(deferred_tool_results=…)`.

        A call that is not settled within `AgentTools(within=…)` is not in it, nor is one of other
        tools: `parked.remaining(results)` says which are left.
        """
        ours = [one for one in parked.calls if _KEPT in parked.metadata.get(one.tool_call_id, {})]
        replies = await asyncio.gather(
            *(self._attach(one, **parked.metadata[one.tool_call_id][_KEPT]) for one in ours)
        )
        settled: dict[str, Any] = {
            one.tool_call_id: _told(reply)
            for one, reply in zip(ours, replies, strict=True)
            if not reply.is_pending
        }
        return parked.build_results(calls=settled)

    async def _attach(self, call: ai.ToolCallPart, *, run: str, tool: str) -> Reply:
        with agent_run(run):
            return await self._tools.call(tool, call.args_as_dict(), conversation=Conversation())

    def _conversation(self, name: str, ctx: ai.RunContext[Any]) -> Conversation:
        known = (ctx.tool_manager and ctx.tool_manager.tools) or {}
        names = {tool.name: tool.name for tool in self._tools} | {ctx.tool_name or name: name}
        kept = {called: (one.tool_def.metadata or {}).get(_KEPT) for called, one in known.items()}
        names |= {called: ours for called, ours in kept.items() if ours}  # whatever their names are
        outputs = {called for called, tool in known.items() if tool.tool_def.kind == "output"}
        transcript, turn = Transcript(), tuple[Asked, ...]()
        for message in ctx.messages:
            if isinstance(message, ai.ModelResponse):
                turn = tuple(
                    Asked(tool=names[call.tool_name], arguments=call.args_as_dict())
                    for call in message.tool_calls
                    if call.tool_name in names
                )
                transcript.answered(not message.tool_calls)
                continue
            for part in message.parts:
                match part:
                    case ai.UserPromptPart():
                        transcript.asked()
                    case _ if part.part_kind.startswith("retry-"):  # no answer that counts
                        transcript.answered(at_last=False)
                    case ai.ToolReturnPart(tool_name=tool) if tool in names or _is_ours(part):
                        transcript.told(part.model_response_str())
                    case ai.ToolReturnPart(tool_name=tool, outcome="success") if tool in outputs:
                        transcript.ended()
        return transcript.conversation(*turn, name=(ctx.agent and ctx.agent.name) or "")


def _told(reply: Reply) -> ai.ToolReturn:
    return ai.ToolReturn(reply.text, metadata={_KEPT: {"step": reply.step_id}})


def _is_ours(part: ai.ToolReturnPart) -> bool:
    return isinstance(part.metadata, dict) and _KEPT in part.metadata


def _lasting(ctx: ai.RunContext[Any]) -> str | None:
    """The conversation's id, unless Pydantic AI has just made it up."""
    name = ctx.conversation_id or ""
    kept = any(
        message.conversation_id == name and message.run_id != ctx.run_id for message in ctx.messages
    )
    return name if kept or not _MADE_UP.fullmatch(name) else None
