"""`plan`: validate, normalise, snapshot the contract, find out whether this run is the first."""

import asyncio
from datetime import UTC, datetime

from temporalio import activity
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from surestep.errors import InvalidArguments, InvalidStepId, UnknownTool
from surestep.facts import UndoPlan
from surestep.identity import UNDO, check_name, check_step_id, undo_id
from surestep.protocol import (
    NOTHING_SENT,
    PLAN,
    ActionInput,
    EarlierStep,
    Plan,
    PlannedAction,
    PlanOrder,
    Undoes,
)
from surestep.tool import Tool, Tools
from surestep.visibility import SEARCH_ATTRIBUTES

# The time-skipping test server cannot say, and some clusters do not let everybody ask.
NOT_TO_BE_ASKED = (RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.PERMISSION_DENIED)


class Planner:
    """Runs as a local activity: its answer is in the history before anything is dispatched (R1)."""

    def __init__(self, tools: Tools, client: Client, *, notifies: bool = False) -> None:
        self._tools = tools
        self._client = client
        self._notifies = notifies
        self._visible = False

    @activity.defn(name=PLAN)
    async def plan(self, order: PlanOrder) -> Plan:
        """The plan. Raises a failure of a type in NOTHING_SENT for input that cannot be used."""
        try:
            actions = tuple(self._planned(action, order) for action in order.actions)
            _distinct([action.name for action in actions])
        except (InvalidArguments, InvalidStepId, UnknownTool) as error:
            message, kind = f"nothing was sent: {error}", type(error).__name__
            raise ApplicationError(message, type=kind, non_retryable=True) from None
        earlier, visible = await asyncio.gather(self._earlier(order), self._registered())
        run_id = activity.info().workflow_run_id or ""
        at = await self._server_time(order) if earlier else datetime.now(UTC)
        return Plan(
            actions=actions,
            run_id=run_id,
            at=at,
            earlier=earlier,
            visible=visible,
            notifies=self._notifies,
        )

    def _planned(self, action: ActionInput, order: PlanOrder) -> PlannedAction:
        name = action.name or action.tool
        if order.undoes:
            _check_undo(order.undoes, order, name)
        else:
            check_step_id(order.step_id)
            check_name(name)
        tool = self._tools[action.tool]
        made = tool.action(action.arguments)
        return PlannedAction(
            name=name,
            tool=tool.name,
            arguments=made.arguments,
            input_hash=made.input_hash,
            contract=tool.contract,
            can_verify=tool.verify_with is not None,
            can_fence=tool.fence_with is not None,
            needs_approval=tool.needs_approval(made.arguments),
            subject=order.undoes.receipt if order.undoes else None,
            undo=_undo(tool),
            recognised=tool.recognised(made.arguments),
        )

    async def _earlier(self, order: PlanOrder) -> EarlierStep | None:
        """What ran before under this step id and left no record here (design: reset, restart)."""
        if order.again:
            return None
        if activity.info().workflow_run_id != order.original_run_id:
            return EarlierStep(since=order.started, why="the step was reset to its beginning")
        retried = order.run_attempt > 1
        if order.carried and not retried:
            return None
        if retried or order.first_run_id != order.original_run_id:
            since = await self._start_of(order.step_id, order.first_run_id)
            return EarlierStep(since=since, why="an earlier run of the step was retried")
        found = await self._closed_before(order)
        given = [order.earlier.since] if order.earlier else []
        if not found and not given:
            return None
        times = [*found, *given]
        since = None if None in times else min(time for time in times if time)
        why = order.earlier.why if order.earlier else "a step of this id ran before"
        return EarlierStep(since=since, why=why)

    async def _server_time(self, order: PlanOrder) -> datetime:
        """When this workflow task began, by the server's clock: the earlier run had ended."""
        run_id = activity.info().workflow_run_id
        handle = self._client.get_workflow_handle(order.step_id, run_id=run_id)
        task = (await handle.describe()).raw_description.pending_workflow_task
        return (
            task.started_time.ToDatetime(UTC)
            if task.HasField("started_time")
            else datetime.now(UTC)
        )

    async def _start_of(self, step_id: str, run_id: str | None) -> datetime | None:
        try:
            handle = self._client.get_workflow_handle(step_id, run_id=run_id)
            return (await handle.describe()).start_time
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise

    async def _closed_before(self, order: PlanOrder) -> list[datetime | None]:
        """Start times of other runs under this id that may have sent something."""
        query = f"WorkflowId = '{order.step_id}'"
        found: list[datetime | None] = []
        try:
            async for run in self._client.list_workflows(query, limit=100):
                harmless = run.status is WorkflowExecutionStatus.FAILED and await self._harmless(
                    order.step_id, run.run_id
                )
                if not harmless and run.run_id != order.original_run_id:
                    found.append(run.start_time)
        except RPCError as error:
            if error.status is not RPCStatusCode.UNIMPLEMENTED:  # the time-skipping test server
                raise
        return found

    async def _harmless(self, step_id: str, run_id: str) -> bool:
        try:
            await self._client.get_workflow_handle(step_id, run_id=run_id).result()
        except WorkflowFailureError as error:
            return isinstance(error.cause, ApplicationError) and error.cause.type in NOTHING_SENT
        return False

    async def _registered(self) -> bool:
        """Whether the search attributes exist; an unregistered one would block a step for ever."""
        if not self._visible:
            request = ListSearchAttributesRequest(namespace=self._client.namespace)
            try:
                answer = await self._client.operator_service.list_search_attributes(request)
            except RPCError as error:
                if error.status in NOT_TO_BE_ASKED:
                    return False
                raise
            self._visible = SEARCH_ATTRIBUTES.keys() <= answer.custom_attributes.keys()
            if not self._visible:
                activity.logger.warning(
                    "the search attributes are not registered, so steps cannot be listed by state: "
                    "run `python starter.py setup`"
                )
        return self._visible


def _undo(tool: Tool) -> UndoPlan | None:
    if tool.undo is None:
        return None
    sees = tool.undo.verify_with is not None
    return UndoPlan(tool=tool.undo.name, contract=tool.undo.contract, can_verify=sees)


def _check_undo(undoes: Undoes, order: PlanOrder, name: str) -> None:
    """An undo of an ended step's action is a step under the undo's own key, and nothing else."""
    step_id, _, action = undoes.action_id.rpartition("/")
    check_step_id(step_id)
    check_name(action)
    if order.step_id != undo_id(undoes.action_id) or name != UNDO or len(order.actions) > 1:
        raise InvalidArguments(
            f"the undo of {undoes.action_id} is the step {undo_id(undoes.action_id)!r} with the "
            f"one action {UNDO!r}: use Surestep.undo"
        )


def _distinct(names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidArguments(
            f"two actions are named {', '.join(twice)}: give each a name of its own, "
            "with .named('…') or the field `name`"
        )
