"""Surestep in the OpenAI Agents SDK: function tools, each of whose calls is a step.

    refunds = FunctionTools(AgentTools(surestep, refund))
    agent = Agent(name="Support", tools=refunds.tools, hooks=refunds)
    with agent_run(session.session_id):
        result = await Runner.run(agent, question, session=session)

The SDK tells a tool nothing of its session, so `agent_run` or `RunConfig(group_id=…)` names the
run; and what the model has read it tells the agent's hooks alone.
"""

import json
from functools import partial
from typing import Any, Final
from weakref import WeakKeyDictionary

from surestep.agents.agent_tools import AgentTools
from surestep.agents.conversation import Asked, Conversation
from surestep.agents.declaration import description, schema
from surestep.agents.reply import Reply
from surestep.agents.transcript import Transcript
from surestep.tool import Tool

try:
    import agents as sdk
    from agents.tool_context import ToolContext
except ImportError as error:
    raise ImportError("this needs openai-agents: pip install 'surestep[openai-agents]'") from error

REMEDY: Final = "pass RunConfig(group_id='…'), which is enough for tools that do not park"
NO_HOOKS: Final = "FunctionTools are also the agent's hooks: Agent(tools=ours.tools, hooks=ours)"

Context = sdk.RunContextWrapper[Any]
Items = list[Any]


class FunctionTools(sdk.AgentHooks[Any]):
    """The tools of an agent, and its hooks.

    hooks  the agent's own, which are called as well
    park   a call that is not settled within `AgentTools(within=…)` interrupts the run, as one that
           needs an approval does; `settle` goes on. The run is then named by `agent_run`
    """

    def __init__(
        self, tools: AgentTools, *, hooks: sdk.AgentHooks[Any] | None = None, park: bool = False
    ) -> None:
        self._tools = tools
        self._hooks: sdk.AgentHooks[Any] = hooks or sdk.AgentHooks()
        self._items: WeakKeyDictionary[Context, Items] = WeakKeyDictionary()
        self._turns: WeakKeyDictionary[Context, dict[str, Asked]] = WeakKeyDictionary()
        for name in ("on_start", "on_end", "on_handoff", "on_tool_start", "on_tool_end"):
            setattr(self, name, getattr(self._hooks, name))
        self._names = frozenset(tool.name for tool in tools)
        self.tools: list[Any] = [self._function(tool, park) for tool in tools]

    async def on_llm_start(
        self, context: Context, agent: sdk.Agent[Any], system_prompt: str | None, input_items: Items
    ) -> None:
        """Keeps what the model reads."""
        # Where the provider holds the conversation, the later requests of a run bring news only.
        news = not any(item.get("role") == "user" for item in input_items)
        self._items[context] = [*(self._items.get(context, ()) if news else ()), *input_items]
        await self._hooks.on_llm_start(context, agent, system_prompt, input_items)

    async def on_llm_end(
        self, context: Context, agent: sdk.Agent[Any], response: sdk.ModelResponse
    ) -> None:
        """Keeps which calls the model makes together."""
        items: Items = response.to_input_items()
        self._items.setdefault(context, []).extend(items)
        self._turns[context] = {
            one["call_id"]: Asked(tool=one["name"], arguments=_parsed(one["arguments"]))
            for one in items
            if one.get("type") == "function_call" and one["name"] in self._names
        }
        await self._hooks.on_llm_end(context, agent, response)

    async def settle(self, state: sdk.RunState[Any, Any]) -> bool:
        """Approve the parked calls that are settled by now; whether all are.

        Then `Runner.run(agent, state)` gets their outcomes. Call both inside the run's `agent_run`.
        """
        ours = [one for one in state.get_interruptions() if one.tool_name in self._names]
        replies = [await self._call(one.tool_name or "", one.arguments or "") for one in ours]
        for one, reply in zip(ours, replies, strict=True):
            if not reply.is_pending:
                state.approve(one)
        return not any(reply.is_pending for reply in replies)

    def _function(self, tool: Tool, park: bool) -> sdk.FunctionTool:
        call = partial(self._invoke, tool.name)
        asks = partial(self._is_pending, tool.name) if park else False
        declared = partial(
            sdk.FunctionTool, tool.name, description(tool), schema(tool), call, needs_approval=asks
        )
        try:
            return declared(strict_json_schema=True)
        except sdk.UserError:  # an open object, for which strict mode has no form
            return declared(strict_json_schema=False)

    async def _invoke(self, tool: str, context: ToolContext[Any], arguments: str) -> str:
        return (await self._call(tool, arguments, context, context.tool_call_id)).text

    async def _is_pending(self, tool: str, context: Context, arguments: Any, call_id: str) -> bool:
        return (await self._call(tool, json.dumps(arguments), context, call_id)).is_pending

    async def _call(
        self, tool: str, arguments: str, context: Context | None = None, call_id: str = ""
    ) -> Reply:
        ask = Asked(tool=tool, arguments=(given := _parsed(arguments)))
        seen = self._conversation(context, call_id, ask) if context else Conversation()
        run = getattr(getattr(context, "run_config", None), "group_id", None)
        return await self._tools.call(tool, given, run=run, conversation=seen, remedy=REMEDY)

    def _conversation(self, context: Context, call_id: str, ask: Asked) -> Conversation:
        for origin, turn in self._turns.items():
            if origin.usage is context.usage and turn.get(call_id) == ask:
                # What an agent is asked by another, whose tool it is, no user has said.
                name = origin.tool_name if isinstance(origin, ToolContext) else ""
                read = self._transcript(self._items[origin], by_user=not name)
                return read.conversation(*turn.values(), name=name)
        agent = getattr(context, "agent", None)
        if agent and not isinstance(agent.hooks, FunctionTools):
            raise sdk.UserError(NO_HOOKS)
        # The run is resumed, and this is a call that it was parked for: there is a step for it.
        return self._transcript(context.turn_input, by_user=True).conversation(ask)

    def _transcript(self, items: Items, *, by_user: bool) -> Transcript:
        transcript = Transcript()
        for item in items:
            role, kind, call = item.get("role"), item.get("type"), item.get("call_id")
            if role == "user" and by_user:
                transcript.asked()
            elif role == "assistant":
                transcript.answered()
            elif kind == "function_call":
                transcript.called(call, ours=item["name"] in self._names)
            elif kind not in {None, "message", "reasoning"}:  # of a tool, of whatever kind
                ours = call if kind == "function_call_output" else ""
                transcript.result(ours, str(item.get("output")))
        return transcript


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments  # a text fits no tool, and is answered so
