"""Surestep for agent code: start or attach, wait, recall, decide, and see what is unresolved."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Literal, Self

from pydantic import ValidationError

from surestep.errors import InvalidArguments, describe_validation
from surestep.handle import StepHandle
from surestep.identity import STEP_INPUT_LIMIT, check_name, check_step_id
from surestep.operators import Operator
from surestep.outcome import StepOutcome
from surestep.protocol import ActionInput, StepInput
from surestep.submission import submit
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
        ended from outside.
        """
        handle = await self.start(
            step_id,
            *actions,
            run=run,
            label=label,
            requester=requester,
            mode=mode,
            undo_on_failure=undo_on_failure,
        )
        return await handle.outcome(within=within)

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
        """Like `run`, without the wait."""
        check_step_id(step_id)
        try:
            step = StepInput(
                run=run,
                label=label,
                requester=requester,
                mode=mode,
                undo_on_failure=undo_on_failure,
                actions=_inputs(actions),
            )
        except ValidationError as error:
            raise InvalidArguments(describe_validation(error)) from None
        size = len(step.model_dump_json().encode())
        if size > STEP_INPUT_LIMIT:
            raise InvalidArguments(
                f"a step of {size} bytes is over the limit of {STEP_INPUT_LIMIT}: pass references "
                "to large content, or spread the actions over several steps"
            )
        handle = self.handle(step_id)
        await submit(handle, step, self.task_queue)
        return handle

    async def recall(self, step_id: str, *, within: timedelta | None = None) -> StepOutcome | None:
        """The outcome of an existing step, waited for if it is not settled; None: no such step.

        A restarted agent recalls first, and asks its model only if there is nothing to recall.
        """
        check_step_id(step_id)
        handle = self.handle(step_id)
        if await handle.exists():
            return await handle.outcome(within=within)
        return None


def _inputs(actions: tuple[Action, ...]) -> tuple[ActionInput, ...]:
    if not actions:
        raise InvalidArguments("a step needs an action: run(step_id, tool(…))")
    for action in actions:
        if not isinstance(action, Action):
            raise InvalidArguments(
                f"{type(action).__name__} is no action: call the tool with its arguments"
            )
        check_name(action.name)
    names = [action.name for action in actions]
    if len(set(names)) < len(names):
        raise InvalidArguments(f"two actions have one name in {names}: name them with .named('…')")
    return tuple(
        ActionInput(tool=one.tool, name=one.name, arguments=one.arguments) for one in actions
    )
