"""`enter` and `attend`: for an agent that is a workflow, and cannot attach to a step itself."""

from datetime import timedelta
from typing import Final

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.service import RPCError, RPCStatusCode

from surestep.entrance import Entrance
from surestep.errors import InvalidArguments, NoSuchStep, StepConflict, SurestepError
from surestep.handle import StepHandle, StepPending
from surestep.outcome import StepOutcome
from surestep.protocol import ATTEND, ENTER, EnterOrder, StepInput
from surestep.tool import Tools

# A parked step can take months, and whoever holds a slot of this worker holds up its attempts.
AT_HAND: Final = timedelta(seconds=2)


class Attendant:
    """Starts steps, attaches to them, and looks what became of them."""

    def __init__(self, client: Client, tools: Tools | None = None) -> None:
        self._client = client
        self._tools = tools or Tools()

    @activity.defn(name=ENTER)
    async def enter(self, order: EnterOrder) -> None:
        """Start the step, or attach to it. Fails for good with a StepConflict."""
        try:
            entrance = Entrance(self._client, activity.info().task_queue)
            await entrance.enter(order.step_id, self._with_marks(order.step))
        except StepConflict as conflict:
            details = (conflict.step_id, conflict.differences)
            kind = type(conflict).__name__
            raise ApplicationError(str(conflict), *details, type=kind, non_retryable=True) from None

    def _with_marks(self, step: StepInput) -> StepInput:
        """Which arguments are personal, as far as the tools are known here; for a conflict."""
        known = {tool.name: tool for tool in self._tools}
        actions = []
        for one in step.actions:
            try:
                personal = known[one.tool].personal(one.arguments)
            except (InvalidArguments, KeyError):  # the plan says so
                personal = ()
            actions.append(one.model_copy(update={"personal": personal}))
        return step.model_copy(update={"actions": tuple(actions)})

    @activity.defn(name=ATTEND)
    async def attend(self, step_id: str) -> StepOutcome:
        """The outcome of the step. As long as there is none it fails, and Temporal asks again."""
        try:
            return await StepHandle(self._client, step_id).outcome(within=AT_HAND)
        except StepPending as pending:
            raise ApplicationError(
                str(pending),
                type=type(pending).__name__,
                category=ApplicationErrorCategory.BENIGN,  # nobody's log should fill with it
            ) from None
        except SurestepError as error:
            kind = type(error).__name__
            raise ApplicationError(str(error), type=kind, non_retryable=True) from None
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND or "Namespace" in error.message:
                raise
            why = f"step {step_id!r} was deleted, or removed by retention"
            raise ApplicationError(why, type=NoSuchStep.__name__, non_retryable=True) from None
