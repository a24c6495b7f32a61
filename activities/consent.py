"""Who wants an ended step's effect undone: signed, by somebody who may, and of that effect."""

from datetime import datetime

from temporalio.client import Client

from surestep.authority import Authority
from surestep.contract import Effect
from surestep.decision import Verdict
from surestep.effect import confirmed_effect
from surestep.errors import ANOTHER, NotSigned, SurestepError
from surestep.handle import StepHandle
from surestep.protocol import Undoes
from surestep.questions import ExamineOrder


async def refuse_unless_signed(
    undoes: Undoes,
    authority: Authority,
    client: Client,
    *,
    tool: str,
    effect: Effect,
    input_hash: str,
    at: datetime,
) -> None:
    """Raise NotSigned where the undo is not wanted by those who may want it.

    tool, effect  of the action that is undone
    at            when the server received the undo
    """
    agreed: list[str] = []
    for decision in undoes.decisions:
        order = ExamineOrder(
            decision=decision,
            action_id=undoes.action_id,
            tool=tool,
            effect=effect,
            input_hash=input_hash,
            requester="",
            now=at,
            by_signal=True,
            agreed=tuple(agreed),
        )
        examined = authority.examine(order, at=at, now=at)
        if examined.objection:
            raise NotSigned(f"the undo of {undoes.action_id}: {examined.objection}")
        if decision.verdict is not Verdict.UNDO:
            raise NotSigned(f"the undo of {undoes.action_id}: {decision.verdict} was signed")
        if not examined.needs_another:
            return await _refuse_another_effect(undoes, client)
        agreed.append(examined.by or "")
    if agreed:
        raise NotSigned(f"the undo of {undoes.action_id}: {', '.join(agreed)} signed; {ANOTHER}")
    raise NotSigned(
        f"the undo of {undoes.action_id} is not signed, and only signed decisions count here: "
        "use `starter.py undo`"
    )


async def _refuse_another_effect(undoes: Undoes, client: Client) -> None:
    """A signature names the action; which effect that had, its own step says."""
    try:
        step_id, _, name = undoes.action_id.rpartition("/")
        outcome = await StepHandle(client, step_id).outcome()
        known = await confirmed_effect(client, outcome, name)
    except SurestepError as error:
        raise NotSigned(f"the undo of {undoes.action_id}: {error}") from None
    if known != undoes.receipt:
        raise NotSigned(
            f"the undo of {undoes.action_id} is of {undoes.receipt.id or 'an effect without id'}, "
            f"and the action had {known.id or 'another'}"
        )
