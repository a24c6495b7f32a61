"""Finding every step of an agent run, and reading what each of its actions came to."""

import asyncio
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final

from temporalio.client import (
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowQueryFailedError,
)
from temporalio.service import RPCError, RPCStatusCode

from surestep.agents.deed import Deed, Standing, deed_of, folded
from surestep.client import Surestep
from surestep.contract import Effect
from surestep.facts import Anomaly
from surestep.identity import action_id, undo_id
from surestep.outcome import outcome_of
from surestep.protocol import STEP_WORKFLOW, WATCH_WORKFLOW, ActionInput
from surestep.record import Record
from surestep.tool import Tool

ANSWERS_WITHIN: Final = timedelta(seconds=5)
AT_ONCE: Final = 20  # steps that are read at the same time


class Survey:
    """Reads steps from the server. `tools` by name say what is an effect, and what it is about."""

    def __init__(self, surestep: Surestep, tools: Mapping[str, Tool]) -> None:
        self._surestep = surestep
        self._tools = tools
        self._room = asyncio.Semaphore(AT_ONCE)

    async def deeds(self, step_ids: Iterable[str]) -> list[Deed]:
        """The actions of all these steps. What does not exist is left out."""
        found = await asyncio.gather(*(self._read(one) for one in step_ids))
        return folded(deed for deeds in found for deed in deeds)

    async def _read(self, step_id: str) -> list[Deed]:
        async with self._room:
            described = await self._described(step_id)
            if described is None:
                return []
            submitted = await self._submitted(step_id, described.run_id)
            deeds = await self._of(step_id, described, submitted)
        return [self._known(deed, submitted) for deed in deeds]

    async def _of(
        self,
        step_id: str,
        described: WorkflowExecutionDescription,
        submitted: tuple[ActionInput, ...],
    ) -> list[Deed]:
        handle = self._surestep.handle(step_id)
        match described.status:
            case WorkflowExecutionStatus.COMPLETED:
                outcome = await handle.outcome()
                later = await self._later(step_id)
                deeds = [deed_of(step_id, one, later.get(one.name, ())) for one in outcome.actions]
                return [await self._unless_undone(deed) for deed in deeds]
            case WorkflowExecutionStatus.RUNNING:
                records = await self._records(step_id)
                if records:
                    return [deed_of(step_id, outcome_of(one)) for one in records]
                return _unread(
                    step_id, submitted, Standing.OPEN, "open", "no worker says how it stands"
                )
            case status:
                unusable = await handle.why_nothing_was_sent(status, described.run_id)
                if unusable is not None:
                    why = unusable or "its input could not be used"
                    return _unread(step_id, submitted, Standing.WITHOUT_EFFECT, "refused", why)
                why = "its step was ended from outside; what it sent is not known"
                return _unread(step_id, submitted, Standing.UNKNOWN, "stopped", why)

    async def _submitted(self, step_id: str, run_id: str) -> tuple[ActionInput, ...]:
        """The actions as they were submitted; none where the input cannot be read."""
        try:
            return (await self._surestep.handle(step_id).submitted(run_id)).actions
        except (ValueError, TypeError, RuntimeError):  # whatever a payload can do to a converter
            return ()

    def _known(self, deed: Deed, submitted: tuple[ActionInput, ...]) -> Deed:
        """With what its tool says of it."""
        tool = self._tools.get(deed.tool)
        actions = {action_id(deed.step_id, one.name or one.tool): one for one in submitted}
        if tool is None or deed.action_id not in actions:
            return deed
        about = tool.recognised(actions[deed.action_id].arguments)
        effect = tool.contract.effect is not Effect.READ
        return deed.model_copy(update={"about": about, "effect": effect})

    async def _unless_undone(self, deed: Deed) -> Deed:
        """An ended step's action is undone by a step of its own."""
        if deed.standing is not Standing.DONE:
            return deed
        undo = undo_id(deed.action_id)
        described = await self._described(undo)
        if described is None:
            return deed
        match described.status:
            case WorkflowExecutionStatus.RUNNING:
                return deed.whose_undo_is(Standing.OPEN)
            case WorkflowExecutionStatus.COMPLETED:
                outcome = await self._surestep.handle(undo).outcome()
                return deed.whose_undo_is(deed_of(undo, outcome.worst).standing)
            case status if await self._surestep.handle(undo).sent_nothing(status):
                return deed
            case _:
                return deed.whose_undo_is(Standing.UNKNOWN)

    async def _described(self, step_id: str) -> WorkflowExecutionDescription | None:
        try:
            described = await self._surestep.handle(step_id).describe()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND and "Namespace" not in error.message:
                return None
            raise
        return described if described.workflow_type == STEP_WORKFLOW else None

    async def _records(self, workflow_id: str) -> list[Record]:
        """What a worker knows of an open step or watch; empty where none answers."""
        try:
            async with asyncio.timeout(ANSWERS_WITHIN.total_seconds()):
                return await self._surestep.handle(workflow_id).records()
        except (TimeoutError, WorkflowQueryFailedError):
            return []
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                raise
            return []

    async def _later(self, step_id: str) -> dict[str, tuple[Anomaly, ...]]:
        """What the watches of an ended step have found, by the action's name."""
        query = f"WorkflowType = '{WATCH_WORKFLOW}' AND WorkflowId STARTS_WITH '{step_id}/watch-'"
        found: dict[str, tuple[Anomaly, ...]] = {}
        async for watch in self._surestep.client.list_workflows(query):
            if watch.status is WorkflowExecutionStatus.COMPLETED:
                handle = self._surestep.client.get_workflow_handle(
                    watch.id, result_type=list[Record]
                )
                records: list[Record] = await handle.result()
            else:
                records = await self._records(watch.id)
            for one in records:
                found[one.name] = (*found.get(one.name, ()), *one.anomalies)
        return found


def _unread(
    step_id: str,
    submitted: tuple[ActionInput, ...],
    standing: Standing,
    state: str,
    why: str,
) -> list[Deed]:
    tools = {action_id(step_id, one.name or one.tool): one.tool for one in submitted}
    return [
        Deed(step_id=step_id, action_id=one, tool=tool, standing=standing, state=state, why=why)
        for one, tool in (tools or {step_id: "unreadable"}).items()
    ]
