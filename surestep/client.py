"""Surestep for agent code: start or attach, wait, recall, decide, and see what is unresolved."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Literal, Self

from surestep.entrance import Entrance
from surestep.handle import StepHandle
from surestep.identity import check_step_id
from surestep.operators import Operator
from surestep.outage import Outage, told_as
from surestep.outcome import StepOutcome
from surestep.protocol import StepInput
from surestep.submission import submission
from surestep.tool import Action


class Surestep(Operator):
    """The client. Get one with `async with Surestep.connect() as surestep:`."""

    @classmethod
    @asynccontextmanager
    async def connect(cls) -> AsyncIterator[Self]:
        """Connect to the server that the environment names, or to the embedded one.

        Raises CannotConnect and SettingsError.
        """
        from surestep.connection import connection
        from surestep.settings import Settings

        settings = Settings.from_environment()
        async with connection(settings) as connected:
            yield cls(connected.client, task_queue=settings.task_queue, ui_url=connected.ui_url)

    async def run(
        self,
        step_id: str,
        *actions: Action,
        run: str = "",
        label: str = "",
        requester: str = "",
        mode: Literal["sequential", "parallel"] = "sequential",
        undo_on_failure: bool = False,
        within: timedelta | None = None,
    ) -> StepOutcome:
        """Perform the step, or attach to it if it exists; wait until it is settled.

        step_id  names the intent, never a model's call id: the same intent, the same id
        run      the agent's run, for lists; label: what a person reads
        requester  for whom; in signed mode this person may not approve it
        within   longest wait; None: however long it takes

        Raises InvalidStepId and InvalidArguments before anything starts, StepConflict if the
        step exists with other input, StepPending after `within`, StepFailed if the step was
        ended from outside. An outage of the server is sat out, and told of by a warning; where
        `within` ends before the step could be submitted, CannotConnect is raised.
        """
        step = submission(
            step_id,
            actions,
            run=run,
            label=label,
            requester=requester,
            mode=mode,
            undo_on_failure=undo_on_failure,
        )
        until = None if within is None else time.monotonic() + within.total_seconds()
        await self._submit(step_id, step, until)
        return await self.handle(step_id).outcome(within=within)

    async def start(
        self,
        step_id: str,
        *actions: Action,
        run: str = "",
        label: str = "",
        requester: str = "",
        mode: Literal["sequential", "parallel"] = "sequential",
        undo_on_failure: bool = False,
    ) -> StepHandle:
        """Like `run`, without any wait. Raises CannotConnect where the server does not answer."""
        step = submission(
            step_id,
            actions,
            run=run,
            label=label,
            requester=requester,
            mode=mode,
            undo_on_failure=undo_on_failure,
        )
        await self._submit(step_id, step, until=time.monotonic())
        return self.handle(step_id)

    async def recall(self, step_id: str, *, within: timedelta | None = None) -> StepOutcome | None:
        """The outcome of an existing step, waited for if it is not settled; None: no such step.

        A restarted agent recalls first, and asks its model only if there is nothing to recall.
        Raises CannotConnect where the server does not answer.
        """
        check_step_id(step_id)
        handle = self.handle(step_id)
        with told_as(self.client, f"Whether there is a step {step_id!r} is not known. Ask again"):
            if not await handle.exists():
                return None
        return await handle.outcome(within=within)

    async def _submit(self, step_id: str, step: StepInput, until: float | None) -> None:
        """Start or attach. Outages are sat out `until` then, which is CannotConnect."""
        entrance = Entrance(self.client, self.task_queue)
        outage = Outage(self.client, f"Step {step_id} is submitted until it does")
        with told_as(
            self.client,
            f"Whether step {step_id!r} was started is not known. Submit the same step again: "
            "if it was, you are attached to it",
        ):
            await outage.sit_out(lambda: entrance.enter(step_id, step), until)
