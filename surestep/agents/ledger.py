"""Every step of an agent run, from the server and not from anybody's memory."""

import asyncio
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from temporalio.client import WorkflowExecution
from temporalio.service import RPCError, RPCStatusCode

from surestep.agents.conversation import marked
from surestep.agents.scope import prefix
from surestep.client import Surestep
from surestep.errors import CannotConnect
from surestep.outage import IN_TIME, Outage, silence, told_as
from surestep.protocol import MEMO_HASH, STEP_WORKFLOW, ActionInput, StepInput
from surestep.tool import Action
from surestep.value import Value

SHORTEST: Final = 1.0  # seconds for a look at a server that answers

_NOT_KNOWN: Final = "What this run has done is not known"


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
    """The steps `{run}/{tool}/{number}`, numbered from 1.

    A number is taken by starting the step, which only one caller can do, and the server is asked
    for one number after the other, which does not lag. Steps are never renumbered, so none is
    asked for twice. Retention removes the oldest: where to begin is taken from the server's list,
    which may lag a little, and from the numbers that the conversation has heard of.
    """

    def __init__(self, surestep: Surestep, run: str, tools: Iterable[str]) -> None:
        self._surestep = surestep
        self._prefix = prefix(run)
        self._kept: dict[str, dict[int, Kept]] = {tool: {} for tool in tools}
        self._top: dict[str, int] = {}
        self._waiting: dict[str, list[str | None]] = {}
        self._settled: dict[str, str] = {}
        self._told: dict[str, set[str]] = {}

    def next_id(self, tool: str) -> str:
        """The id of the first step of this tool that is not known yet."""
        return self._id(tool, self._top.get(tool, 0) + 1)

    async def steps(self, heard: str = "", until: float | None = None) -> list[Kept]:
        """All steps of the run that the server still has, of one tool in order of their numbers.

        heard  what the conversation was told, with the marks of steps that may be gone by now
        until  how long outages are sat out, by the monotonic clock

        Raises CannotConnect.
        """
        client = self._surestep.client
        outage = Outage(client, f"The steps {self._prefix}/… are looked up then")
        limit = None if until is None else max(until - time.monotonic(), SHORTEST)
        try:
            async with asyncio.timeout(limit):
                with told_as(client, _NOT_KNOWN):
                    await asyncio.gather(
                        *(self._read_on(tool, heard, outage, until) for tool in self._kept)
                    )
        except TimeoutError:
            raise CannotConnect(f"{silence(client, IN_TIME)}. {_NOT_KNOWN}") from None
        return [kept[number] for kept in self._kept.values() for number in sorted(kept)]

    @contextmanager
    def under_way(self, step_id: str, conversation: str | None) -> Iterator[None]:
        """Inside, a call of this process waits for the step.

        conversation  by its name, whose call it is; None: it has none
        """
        waiting = self._waiting.setdefault(step_id, [])
        waiting.append(conversation)
        try:
            yield
        finally:
            waiting.remove(conversation)

    def is_under_way(self, step_id: str, conversation: str | None) -> bool:
        """Whether a call of this process, of another conversation, waits for the step."""
        return any(one is None or one != conversation for one in self._waiting.get(step_id, ()))

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

    def _id(self, tool: str, number: int) -> str:
        return f"{self._prefix}/{tool}/{number}"

    async def _read_on(self, tool: str, heard: str, outage: Outage, until: float | None) -> None:
        if tool not in self._top:
            found = await outage.sit_out(lambda: self._listed(tool), until)
            known = [*found, *self._numbers(tool, marked(heard))]
            await self._read_back(tool, max(known, default=0), found, outage, until)
        while True:
            number = self._top[tool] + 1
            one = await outage.sit_out(lambda number=number: self._found(tool, number), until)  # type: ignore[misc]
            if one is None:
                return
            self._keep(tool, number, one)

    async def _read_back(
        self, tool: str, top: int, found: dict[int, Kept], outage: Outage, until: float | None
    ) -> None:
        """From the newest number that is known of down to what retention has removed."""
        for number in range(top, 0, -1):
            if number in found:
                continue
            one = await outage.sit_out(lambda number=number: self._found(tool, number), until)  # type: ignore[misc]
            if one is None:
                break
            found[number] = one
        self._top[tool] = max(top, self._top.get(tool, 0))
        self._kept[tool] |= found

    def _keep(self, tool: str, number: int, one: Kept) -> None:
        self._kept[tool][number] = one
        self._top[tool] = max(number, self._top[tool])

    def _numbers(self, tool: str, step_ids: Iterable[str]) -> Iterator[int]:
        """The numbers of those that are steps of this tool in this run."""
        numbered = re.compile(re.escape(self._id(tool, 0)[:-1]) + r"([1-9][0-9]{0,6})")
        for step_id in step_ids:
            if match := numbered.fullmatch(step_id):
                yield int(match[1])

    async def _listed(self, tool: str) -> dict[int, Kept]:
        """What the server's list has; empty where the server keeps no list."""
        query = (
            f"WorkflowType = '{STEP_WORKFLOW}' AND "
            f"WorkflowId STARTS_WITH '{self._id(tool, 0)[:-1]}'"
        )
        found: dict[int, Kept] = {}
        try:
            async for run in self._surestep.client.list_workflows(query):
                for number in self._numbers(tool, [run.id]):
                    if number not in found:  # the newest run of a step comes first
                        found[number] = await self._read(tool, run)
        except RPCError as error:
            if error.status is not RPCStatusCode.UNIMPLEMENTED:  # the time-skipping test server
                raise
        return found

    async def _found(self, tool: str, number: int) -> Kept | None:
        try:
            found = await self._surestep.handle(self._id(tool, number)).describe()
            return await self._read(tool, found) if found.workflow_type == STEP_WORKFLOW else None
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND and "Namespace" not in error.message:
                return None
            raise

    async def _read(self, tool: str, run: WorkflowExecution) -> Kept:
        recorded = await run.memo_value(MEMO_HASH, default=None)
        if not recorded:  # started from another language
            recorded = (await self._surestep.handle(run.id).submitted(run.run_id)).hash
        return Kept(step_id=run.id, tool=tool, hash=recorded)
