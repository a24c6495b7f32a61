"""The tools of an agent: every call of the model becomes a step, or finds the one that it means."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

from surestep.agents.agent_call import AgentCall
from surestep.agents.conversation import Conversation
from surestep.agents.ledger import RunLedger, content
from surestep.agents.reply import Reply, refused
from surestep.agents.scope import Scope, scope_of
from surestep.client import Surestep
from surestep.errors import ContractError, InvalidArguments, UnknownTool
from surestep.tool import Action, Tool, Tools

RUNS_LIMIT: Final = 1000  # runs whose steps are remembered; of the others they are looked up again

Intent = Callable[[Any], str]


class AgentTools:
    """What every adapter hands its model's calls to.

    intents  by tool name: the step id from the arguments, for an intent that several runs may
             share (`lambda refund: f"refund/{refund.order}"`). Without one, the step is
             `{run}/{tool}/{number}`, and the run and its conversation decide which call is meant
    within   longest wait for an outcome; None: the agent is paused however long it takes
    """

    def __init__(
        self,
        surestep: Surestep,
        *tools: Tool,
        intents: Mapping[str, Intent] | None = None,
        within: timedelta | None = None,
    ) -> None:
        self.surestep = surestep
        self.within = within
        self._tools = Tools(*tools)
        self._named = tuple(tools)
        self._intents = dict(intents or {})
        self._ledgers: OrderedDict[str, RunLedger] = OrderedDict()
        for name in self._intents:
            if name not in {tool.name for tool in tools}:
                raise ContractError(f"intents: {name!r} is none of these tools")

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._named)

    async def call(
        self,
        tool: str,
        arguments: Any,
        *,
        run: str | None = None,
        conversation: Conversation | None = None,
        remedy: str = "give it one",
    ) -> Reply:
        """Perform the call, or find what an equal one did.

        run           the agent run by the name that its framework keeps; `agent_run` overrides it
        conversation  what the framework has kept of it; None: it does not say. Then an equal call
                      is the same intent for as long as the run lasts
        remedy        what to do where the run has no name

        What is wrong with the call is a reply, for the model can correct it. Raises what only the
        developer can mend: InvalidArguments where the run has no name, ContractError where equal
        calls cannot be recognised.
        """
        scope = scope_of(run, remedy)
        try:
            action = self._tools[tool].action(arguments)
            step_id = self._intended(self._tools[tool], action)
            again = self._tools[tool].action(arguments)
        except (InvalidArguments, UnknownTool) as error:
            return refused(str(error))
        if step_id is None and content(again) != content(action):
            raise ContractError(
                f"tool {tool!r}: its argument model makes something else of equal arguments each "
                "time (a default_factory?), so no call would ever equal another: give the field "
                "no default that changes, or name the intent (intents=)"
            )
        call = AgentCall(
            surestep=self.surestep,
            scope=scope,
            ledger=self._ledger(scope),
            action=action,
            conversation=conversation,
            turn=frozenset(self._turn(conversation)),
            within=self.within,
        )
        return await (call.reply() if step_id is None else call.reply_of(step_id))

    def _intended(self, tool: Tool, action: Action) -> str | None:
        intent = self._intents.get(tool.name)
        return intent(tool.load(action.arguments)) if intent else None

    def _turn(self, conversation: Conversation | None) -> Iterator[tuple[str, str]]:
        for asked in conversation.turn if conversation else ():
            try:
                yield asked.tool, content(self._tools[asked.tool].action(asked.arguments))
            except (InvalidArguments, UnknownTool):
                continue  # it gets its own answer

    def _ledger(self, scope: Scope) -> RunLedger:
        ledger = self._ledgers.get(scope.run)
        if ledger is None:
            names = [tool.name for tool in self._named if tool.name not in self._intents]
            ledger = self._ledgers[scope.run] = RunLedger(self.surestep, scope.run, names)
        self._ledgers.move_to_end(scope.run)
        if len(self._ledgers) > RUNS_LIMIT:
            self._ledgers.popitem(last=False)
        return ledger
