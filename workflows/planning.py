"""Asking for a plan, and remembering which run made it."""

from collections.abc import Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError

from surestep.protocol import FIRST_RUN, ActionInput, EarlierStep, Plan, PlanOrder, Undoes
from workflows import dispatch
from workflows.clock import Clock


class Planning:
    """`run_id` is the run that made the last plan. It is in the history, so it survives a reset:
    an attempt that is ordered under it and handed out in another run is not carried out there.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.run_id = ""

    async def ask(
        self,
        actions: Sequence[ActionInput],
        *,
        carried: bool,
        earlier: EarlierStep | None = None,
        undoes: Undoes | None = None,
        again: bool = False,
    ) -> Plan:
        """The plan; raises what `plan` raised for input that cannot be used."""
        info = workflow.info()
        order = PlanOrder(
            actions=tuple(actions),
            step_id=info.workflow_id,
            started=info.workflow_start_time,
            original_run_id=info.original_execution_run_id,
            first_run_id=info.first_execution_run_id,
            run_attempt=info.attempt,
            carried=carried,
            earlier=earlier,
            undoes=undoes,
            first=FIRST_RUN in info.headers,
            again=again,
        )
        try:
            plan = await dispatch.plan(order)
        except ActivityError as error:
            raise error.cause or error from error
        self._clock.hold(max(plan.at, info.workflow_start_time))
        self.run_id = plan.run_id
        return plan
