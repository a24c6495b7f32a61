"""Every step of an agent run, from the server and not from anybody's memory."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from temporalio.client import WorkflowExecutionDescription
from temporalio.service import RPCError, RPCStatusCode

from surestep.agents.scope import prefix
from surestep.client import Surestep
from surestep.outage import Outage
from surestep.protocol import MEMO_HASH, STEP_WORKFLOW, ActionInput, StepInput
from surestep.tool import Action
from surestep.value import Value


class Kept(Value):
    """One step of the run: the tool, and the hash of what was submitted."""

    step_id: str
    tool: str
    hash: str


def content(action: Action) -> str:
    """The hash by which a step of this action alone is equal to another."""
    one = ActionInput(tool=action.tool, name=action.name, arguments=action.arguments)
    return StepInput(actions=(one,)).hash


class RunLedger:
    """The steps `{run}/{tool}/{number}`, numbered from 1 without a gap.

    A number is taken by starting the step, which only one caller can do, so what is found here
    is complete. What was found once is not looked up again: steps are never renumbered.
    """

    def __init__(self, surestep: Surestep, run: str, tools: Iterable[str]) -> None:
        self._surestep = surestep
        self._prefix = prefix(run)
        self._kept: dict[str, list[Kept]] = {tool: [] for tool in tools}
        self._under_way: Counter[str] = Counter()
        self._settled: dict[str, str] = {}
        self._told: dict[str, set[str]] = {}

    def next_id(self, tool: str) -> str:
        """The id of the first step of this tool that is not known yet."""
        return f"{self._prefix}/{tool}/{len(self._kept[tool]) + 1}"

    async def steps(self) -> list[Kept]:
        """All steps of the run, of one tool in the order of their numbers. Outages are sat out."""
        await asyncio.gather(*(self._read_on(tool) for tool in self._kept))
        return [one for kept in self._kept.values() for one in kept]

    @contextmanager
    def under_way(self, step_id: str) -> Iterator[None]:
        """A call of this process waits for the step, inside."""
        self._under_way[step_id] += 1
        try:
            yield
        finally:
            self._under_way[step_id] -= 1

    def is_under_way(self, step_id: str) -> bool:
        """Whether a call of this process waits for the step."""
        return self._under_way[step_id] > 0

    def settle(self, step_id: str, state: str) -> None:
        """The step has ended, with this state."""
        self._settled[step_id] = state

    def settled_as(self, step_id: str) -> str | None:
        """The state with which the step has ended; None: not known to have."""
        return self._settled.get(step_id)

    def tell(self, step_id: str, conversation: str) -> None:
        """This process has told a conversation, by its name, of the step's outcome."""
        self._told.setdefault(step_id, set()).add(conversation)

    def told(self, step_id: str) -> frozenset[str]:
        """The conversations that this process has told."""
        return frozenset(self._told.get(step_id, ()))

    async def _read_on(self, tool: str) -> None:
        outage = Outage(self._surestep.client, f"The steps {self._prefix}/… are looked up then")
        kept = self._kept[tool]
        while True:
            wanted = self.next_id(tool)
            found = await outage.sit_out(lambda wanted=wanted: self._found(wanted), None)  # type: ignore[misc]
            if found is None:
                return
            one = Kept(step_id=wanted, tool=tool, hash=await self._hash(wanted, found))
            if wanted == self.next_id(tool):  # no other task was quicker
                kept.append(one)

    async def _found(self, wanted: str) -> WorkflowExecutionDescription | None:
        try:
            found = await self._surestep.handle(wanted).describe()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND and "Namespace" not in error.message:
                return None
            raise
        return found if found.workflow_type == STEP_WORKFLOW else None

    async def _hash(self, wanted: str, found: WorkflowExecutionDescription) -> str:
        recorded = await found.memo_value(MEMO_HASH, default=None)
        return recorded or (await self._surestep.handle(wanted).submitted(found.run_id)).hash
