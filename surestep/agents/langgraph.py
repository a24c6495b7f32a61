"""Surestep in LangGraph and LangChain: tools, each of whose calls is a step.

    create_agent(model, surestep_tools(AgentTools(surestep, refund)), checkpointer=…)

The run is named by the graph's thread: sub-graphs and sub-agents of a thread belong to its run.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from surestep.agents.agent_tools import AgentTools
from surestep.agents.conversation import Asked, Conversation
from surestep.agents.declaration import description, schema
from surestep.agents.reply import Reply
from surestep.agents.transcript import Transcript
from surestep.errors import ContractError
from surestep.tool import Tool

try:
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, convert_to_messages
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import StructuredTool
    from langgraph.prebuilt import ToolRuntime
    from langgraph.types import interrupt
except ImportError as error:
    raise ImportError("this needs LangGraph: pip install 'surestep[langgraph]'") from error

REMEDY: Final = "call the graph with config={'configurable': {'thread_id': '…'}} and a checkpointer"

# LangChain hands a tool these beside its arguments.
RESERVED: Final = frozenset({"config", "run_manager", "runtime"})

# How LangChain ends a turn whose answer is structured: with no message of the model's own.
_STRUCTURED: Final = "Returning structured response"


def surestep_tools(
    tools: AgentTools, *, park: bool = False, messages_key: str = "messages"
) -> list[StructuredTool]:
    """The tools of an agent, for `create_agent`, `ToolNode`, or a node's own `await tool.ainvoke`.

    park          a call whose step is not settled within `AgentTools(within=…)` interrupts the
                  graph, with the step's id; resumed with anything but None, it attaches again
    messages_key  where the graph's state keeps the messages

    Graphs must run asynchronously (`ainvoke`, `astream`). A node's own call carries no messages:
    it is the same intent for as long as the thread lasts, and it waits instead of parking. Raises
    ContractError for a tool that LangChain could not call.
    """
    if park and tools.within is None:
        raise ContractError("park=True: say after how long, with AgentTools(…, within=…)")
    return [_Adapted(tools, tool, park, messages_key).structured() for tool in tools]


class _Adapted:
    """One tool, as LangChain calls it."""

    def __init__(self, tools: AgentTools, tool: Tool, park: bool, messages_key: str) -> None:
        self._tools, self._tool = tools, tool
        self._park, self._messages_key = park, messages_key
        self._names = frozenset(one.name for one in tools)

    def structured(self) -> StructuredTool:
        arguments = schema(self._tool)
        if taken := RESERVED & arguments.get("properties", {}).keys():
            raise ContractError(
                f"tool {self._tool.name!r}: LangChain keeps the argument name {min(taken)!r} for "
                "itself; give the field an alias"
            )
        return StructuredTool(
            name=self._tool.name,
            description=description(self._tool),
            args_schema=arguments,
            coroutine=self.call,
            response_format="content_and_artifact",
        )

    async def call(
        self, config: RunnableConfig, runtime: ToolRuntime | None = None, **arguments: Any
    ) -> tuple[str, dict[str, Any]]:
        reply = await self._reply(config, runtime, arguments)
        while self._park and reply.is_pending:
            if runtime and self._may_park(runtime):
                interrupt({"step_id": reply.step_id, "tool": self._tool.name, "why": reply.text})
            reply = await self._reply(config, runtime, arguments)
        kept = {"step_id": reply.step_id, "state": reply.state, "advice": reply.advice.value}
        return reply.text, kept

    async def _reply(
        self, config: RunnableConfig, runtime: ToolRuntime | None, arguments: dict[str, Any]
    ) -> Reply:
        thread = config.get("configurable", {}).get("thread_id")
        return await self._tools.call(
            self._tool.name,
            arguments,
            run=None if thread is None else str(thread),
            conversation=self._conversation(runtime) if runtime else None,
            remedy=REMEDY,
        )

    def _conversation(self, runtime: ToolRuntime) -> Conversation | None:
        messages = self._messages(runtime.state)
        transcript, turn = Transcript(), tuple[Asked, ...]()
        for message in messages:
            match message:
                case AIMessage(tool_calls=calls):
                    turn = tuple(self._asked(calls))
                    transcript.answered(at_last=not (calls or message.invalid_tool_calls))
                case HumanMessage() if _is_users(message):
                    transcript.asked()
                case ToolMessage() if message.name in self._names:
                    transcript.told(message.text)
                case ToolMessage() if message.text.startswith(_STRUCTURED):
                    transcript.ended()
        return transcript.conversation(*turn, name=_agent(runtime.config)) if messages else None

    def _messages(self, state: Any) -> Sequence[object]:
        key = self._messages_key
        if not isinstance(state, list):
            state = state.get(key) if isinstance(state, dict) else getattr(state, key, None)
        return convert_to_messages(state or ())

    def _asked(self, calls: Iterable[Any]) -> Iterable[Asked]:
        for call in calls:
            if call["name"] in self._names:
                yield Asked(tool=call["name"], arguments=call["args"])

    def _may_park(self, runtime: ToolRuntime) -> bool:
        """Whether nothing else can interrupt in this task.

        LangGraph finds the answer to an interrupt by its place among the task's interrupts, and a
        call that is settled when it is resumed has none: its answer would go to the next one.
        """
        sent = runtime.config.get("metadata", {}).get("langgraph_path", ())[:1]
        return sent == ("__pregel_push",) or {tool.name for tool in runtime.tools} <= self._names


def _is_users(message: HumanMessage) -> bool:
    """What graphs write in the user's place is named after an agent, or marked by LangChain."""
    return not message.name and "lc_source" not in message.additional_kwargs


def _agent(config: RunnableConfig) -> str:
    """Empty for the graph itself; for a sub-agent, the nodes that lead to it, and its name."""
    *above, _ = str(config.get("configurable", {}).get("checkpoint_ns", "")).split("|")
    path = "/".join(node.partition(":")[0] for node in above if not node.isdigit())
    return f"{path}/{config.get('metadata', {}).get('lc_agent_name', '')}" if path else ""
