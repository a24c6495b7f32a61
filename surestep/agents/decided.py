"""What a model decided once is carried out, and not decided again."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any, Final, Literal

from surestep.client import Surestep
from surestep.errors import (
    CannotConnect,
    InvalidArguments,
    InvalidStepId,
    StepConflict,
    StepFailed,
    UnknownTool,
)
from surestep.identity import check_step_id, input_hash
from surestep.outage import IN_TIME, Outage, silence
from surestep.outcome import StepOutcome
from surestep.tool import Action

Decide = Callable[[], Awaitable[Action | Sequence[Action]]]

SHORTEST: Final = 1.0  # seconds for a look at a server that answers

_NOTHING_SENT: Final = (InvalidArguments, InvalidStepId, UnknownTool)


async def decided(
    surestep: Surestep,
    step_id: str,
    decide: Decide,
    *,
    run: str = "",
    label: str = "",
    requester: str = "",
    mode: Literal["sequential", "parallel"] = "sequential",
    undo_on_failure: bool = False,
    within: timedelta | None = None,
) -> StepOutcome:
    """The outcome of the step. Only if there is none yet, the model is asked what to do in it.

    decide  asks the model, and gives the action, or the actions, of the step
    within  longest wait for the server and for the outcome, not for `decide`
    The other parameters, and what it raises, are those of `Surestep.run`.

    Of two processes that decide at once, one decision counts, and both get its outcome. A step
    that was ended from outside is submitted again as it was decided then. A decision that could
    not be used, and of which nothing was sent, is made again.
    """
    how: dict[str, Any] = {"run": run, "label": label, "requester": requester, "within": within}
    if await _exists(surestep, step_id, within):
        try:
            return await _replayed(surestep, step_id, how)
        except _NOTHING_SENT:
            pass
    given = await decide()
    actions = (given,) if isinstance(given, Action) else tuple(given)
    try:
        return await surestep.run(
            step_id, *actions, mode=mode, undo_on_failure=undo_on_failure, **how
        )
    except StepConflict:  # somebody else has decided meanwhile
        if not await surestep.handle(step_id).exists():
            raise
        return await _replayed(surestep, step_id, how)


async def _exists(surestep: Surestep, step_id: str, within: timedelta | None) -> bool:
    """Whether there is such a step. Raises CannotConnect after `within`."""
    handle, client = surestep.handle(check_step_id(step_id)), surestep.client
    outage = Outage(client, f"Whether there is a step {step_id} is asked until it does")
    unknown = f"Whether there is a step {step_id!r} is not known, and nothing was decided"
    limit = None if within is None else max(within.total_seconds(), SHORTEST)
    try:
        async with asyncio.timeout(limit):
            return await outage.sit_out(handle.exists, None)
    except TimeoutError:
        raise CannotConnect(f"{silence(client, IN_TIME)}. {unknown}") from None


async def _replayed(surestep: Surestep, step_id: str, how: dict[str, Any]) -> StepOutcome:
    """The outcome of a step that exists, carried out to its end if it was cut."""
    handle = surestep.handle(step_id)
    try:
        return await handle.outcome(within=how["within"])
    except StepFailed:
        step = await handle.submitted()
    actions = [
        Action(
            name=one.name or one.tool,
            tool=one.tool,
            arguments=one.arguments,
            input_hash=input_hash(one.arguments),
        )
        for one in step.actions
    ]
    return await surestep.run(
        step_id, *actions, mode=step.mode, undo_on_failure=step.undo_on_failure, **how
    )
