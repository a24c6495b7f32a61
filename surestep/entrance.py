"""The way into a step: it is started, attached to if it exists, or started again if it was cut."""

import asyncio
from datetime import timedelta
from typing import Final

from temporalio.client import Client, WorkflowExecution, WorkflowExecutionStatus
from temporalio.common import (
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from surestep.attributes import of_a_start
from surestep.errors import StepConflict
from surestep.first_run import marking
from surestep.handle import StepHandle
from surestep.protocol import MEMO_HASH, STEP_WORKFLOW, EarlierStep, StepInput
from surestep.registered import registration
from surestep.submission import static_summary

CLOSED_WITHOUT_OUTCOME: Final = (
    WorkflowExecutionStatus.FAILED,
    WorkflowExecutionStatus.TERMINATED,
    WorkflowExecutionStatus.TIMED_OUT,
    WorkflowExecutionStatus.CANCELED,
)

# A step that is deleted, or that retention removes, goes piece by piece within a second.
WHILE_IT_VANISHES: Final = tuple(timedelta(seconds=0.05 * 2**n) for n in range(7))

ASKS_FOR: Final = timedelta(seconds=1)


class Entrance:
    """Starts and attaches, for one client and one task queue."""

    def __init__(self, client: Client, task_queue: str) -> None:
        self._client = client
        self._starting = marking(client)
        self._task_queue = task_queue

    async def enter(self, step_id: str, step: StepInput) -> None:
        """Start or attach. Raises StepConflict."""
        for pause in WHILE_IT_VANISHES:
            try:
                return await self._start_or_attach(step_id, step)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND or "Namespace" in error.message:
                    raise
            await asyncio.sleep(pause.total_seconds())
        await self._start_or_attach(step_id, step)

    async def _start_or_attach(self, step_id: str, step: StepInput) -> None:
        try:
            await self._start(step_id, step, WorkflowIDReusePolicy.REJECT_DUPLICATE)
        except WorkflowAlreadyStartedError:
            await self._attach(step_id, step)

    async def _start(self, step_id: str, step: StepInput, reuse: WorkflowIDReusePolicy) -> None:
        first = reuse is WorkflowIDReusePolicy.REJECT_DUPLICATE
        shown = of_a_start(step) if first and await self._can_be_shown() else None
        try:
            await self._begin(step_id, step, reuse, shown)
        except RPCError as error:
            if shown is None or error.status is not RPCStatusCode.INVALID_ARGUMENT:
                raise
            # A search attribute may have been removed meanwhile, which no action waits for.
            await self._begin(step_id, step, reuse, None)

    async def _can_be_shown(self) -> bool:
        """Whether a start may bring search attributes; it must not fail for them, nor wait."""
        try:
            async with asyncio.timeout(ASKS_FOR.total_seconds()):
                return await registration(self._client).is_complete()
        except (RPCError, TimeoutError):  # the start itself says better what is wrong
            return False

    async def _begin(
        self,
        step_id: str,
        step: StepInput,
        reuse: WorkflowIDReusePolicy,
        attributes: TypedSearchAttributes | None,
    ) -> None:
        await self._starting.start_workflow(
            STEP_WORKFLOW,
            step,
            id=step_id,
            task_queue=self._task_queue,
            id_reuse_policy=reuse,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            memo={MEMO_HASH: step.hash},
            search_attributes=attributes,
            static_summary=static_summary(step),
            request_eager_start=True,  # a worker on the same connection begins at once
        )

    async def _attach(self, step_id: str, step: StepInput) -> None:
        """The step exists: is it the same, and has it an outcome?"""
        handle = self._handle(step_id)
        existing = await handle.describe()
        if existing.workflow_type != STEP_WORKFLOW:
            raise StepConflict(
                step_id, [f"workflow: {existing.workflow_type} there, {STEP_WORKFLOW} now"]
            )
        sent_nothing = await handle.sent_nothing(existing.status)
        binding = await handle.last_that_may_have_sent() if sent_nothing else existing
        if binding:
            recorded = await binding.memo_value(MEMO_HASH, default=None)
            if recorded != step.hash:
                differences = (await handle.submitted(binding.run_id)).differences(step)
                if differences:
                    raise StepConflict(step_id, differences)
        if existing.status in CLOSED_WITHOUT_OUTCOME:
            await self._start_again(step_id, step, binding)

    async def _start_again(
        self, step_id: str, step: StepInput, binding: WorkflowExecution | None
    ) -> None:
        """The new run is told of the old one: what that one sent is not known here."""
        if binding:
            since = await self._handle(step_id).began(binding)
            name = binding.status.name.lower() if binding.status else "ended"
            why = f"an earlier run of this step was {name} without an outcome"
            step = step.model_copy(update={"earlier": EarlierStep(since=since, why=why)})
        try:
            await self._start(step_id, step, WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY)
        except WorkflowAlreadyStartedError:  # somebody else was quicker with the same step
            await self._attach(step_id, step)

    def _handle(self, step_id: str) -> StepHandle:
        return StepHandle(self._client, step_id)
