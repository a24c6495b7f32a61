"""`plan`: validate, normalise, snapshot the contract, find out whether this run is the first."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from temporalio import activity
from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionStatus,
    WorkflowFailureError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from activities.consent import refuse_unless_signed
from surestep.authority import Authority
from surestep.errors import (
    InvalidArguments,
    InvalidStepId,
    NotSigned,
    SurestepError,
    UnknownTool,
    summary,
)
from surestep.facts import UndoPlan
from surestep.handle import StepHandle
from surestep.identity import UNDO, UNDO_SUFFIX, check_name, check_step_id, undo_id
from surestep.outage import OUTAGE
from surestep.protocol import (
    NOTHING_SENT,
    PLAN,
    ActionInput,
    EarlierStep,
    Plan,
    PlannedAction,
    PlanOrder,
    StepInput,
    Undoes,
)
from surestep.registered import Registration
from surestep.submission import refuse_in_names
from surestep.tool import Tool, Tools

REASON_LIMIT = 1500  # characters


class Planner:
    """Runs as a local activity: its answer is in the history before anything is dispatched (R1)."""

    def __init__(
        self,
        tools: Tools,
        client: Client,
        *,
        notifies: bool = False,
        authority: Authority | None = None,
    ) -> None:
        self._tools = tools
        self._client = client
        self._authority = authority
        self._notifies = notifies
        self._registration = Registration(client)

    @activity.defn(name=PLAN)
    async def plan(self, order: PlanOrder) -> Plan:
        """The plan. Raises a failure of a type in NOTHING_SENT for input that cannot be used."""
        try:
            actions = tuple(self._planned(action, order) for action in order.actions)
            _distinct([action.name for action in actions])
            if self._authority and order.undoes and actions:
                await self._refuse_unless_signed(self._authority, order.undoes, actions[0], order)
        except (InvalidArguments, InvalidStepId, UnknownTool, NotSigned) as error:
            raise _unusable(error) from None
        except Exception as error:
            if isinstance(error, RPCError | ApplicationError):
                raise
            why = f"the code of a tool raised {summary(error)}"  # its text can hold arguments
            raise ApplicationError(why, type="ToolFailed") from None
        earlier, visible = await asyncio.gather(self._earlier(order, actions), self._registered())
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
        if not order.undoes:
            refuse_in_names(made, {"step id": order.step_id, "action name": name})
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
            personal=made.personal,
        )

    async def _refuse_unless_signed(
        self, authority: Authority, undoes: Undoes, undo: PlannedAction, order: PlanOrder
    ) -> None:
        undone = self._tools[undo.tool.removesuffix(UNDO_SUFFIX)]
        await refuse_unless_signed(
            undoes,
            authority,
            self._client,
            tool=undone.name,
            effect=undone.contract.effect,
            input_hash=undo.input_hash,
            at=order.started,
        )

    async def _earlier(
        self, order: PlanOrder, actions: Sequence[PlannedAction]
    ) -> EarlierStep | None:
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
        found = [] if order.first else await self._closed_before(order)
        given = [order.earlier.since] if order.earlier else []
        if not found and not given:
            return None
        if found:
            newest = max(found, key=lambda run: run.start_time)
            await self._refuse_other_input(order.step_id, newest, actions)
        times = [*(run.start_time for run in found), *given]
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

    async def _refuse_other_input(
        self, step_id: str, ran: WorkflowExecution, actions: Sequence[PlannedAction]
    ) -> None:
        """One key stands for one content. A client of ours has seen to that; others come here."""
        try:
            before = await StepHandle(self._client, step_id).submitted(ran.run_id)
            old = [self._normalised(action) for action in before.actions]
        except Exception as error:  # it was no step of ours, or cannot be read any more
            if isinstance(error, RPCError) and error.status in OUTAGE:
                raise  # Temporal asks again: other content under one key must not pass unseen
            activity.logger.info("cannot compare %s with run %s", step_id, ran.run_id)
            return
        now = [
            ActionInput(tool=a.tool, name=a.name, arguments=a.arguments, personal=a.personal)
            for a in actions
        ]
        differences = StepInput(actions=tuple(old)).differences(StepInput(actions=tuple(now)))
        if differences:
            raise _unusable(
                InvalidArguments(
                    f"step {step_id!r} ran before with other input: {'; '.join(differences)}. "
                    "An intended repeat needs a step id of its own."
                )
            )

    def _normalised(self, action: ActionInput) -> ActionInput:
        made = self._tools[action.tool].action(action.arguments)
        return action.model_copy(update=made.model_dump(include={"arguments", "personal"}))

    async def _closed_before(self, order: PlanOrder) -> list[WorkflowExecution]:
        """Other runs under this id that may have sent something."""
        query = f"WorkflowId = '{order.step_id}'"
        found: list[WorkflowExecution] = []
        try:
            async for run in self._client.list_workflows(query, limit=100):
                harmless = run.status is WorkflowExecutionStatus.FAILED and await self._harmless(
                    order.step_id, run.run_id
                )
                if not harmless and run.run_id != order.original_run_id:
                    found.append(run)
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
        """Whether the search attributes exist, and of their types.

        One that does not would block a step for ever.
        """
        complete = await self._registration.is_complete()
        if not complete:
            activity.logger.warning(
                "the search attributes are not registered, or not as they must be, so steps "
                "cannot be listed by state: run `python starter.py setup`"
            )
        return complete


def _unusable(error: SurestepError) -> ApplicationError:
    # Each thing that is wrong has its words, and there can be thousands.
    why, kind = str(error)[:REASON_LIMIT], type(error).__name__
    return ApplicationError(f"nothing was sent: {why}", type=kind, non_retryable=True)


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
