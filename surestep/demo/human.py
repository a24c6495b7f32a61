"""The human of the demo: whoever sits at the terminal or, after a while, a scripted one."""

from datetime import UTC, datetime

from surestep.decision import Decision, Verdict
from surestep.demo.part import Part
from surestep.handle import StepPending
from surestep.narrative import decision_command
from surestep.protocol import DECIDE
from surestep.record import Record
from surestep.signature import sign

NAME = "the demo"


async def decide(part: Part, record: Record) -> None:
    """Show how to decide, wait for somebody to do so, and otherwise decide by a signal."""
    command = decision_command(part.step_id, record, Verdict.CONFIRM)
    part.aside(f"look:    {part.handle.url}", "bold")
    part.aside(f"ledger:  {await _books(part)}", "bold")
    part.aside(f"decide:  {part.stage.reach} {command}", "bold")
    seconds = f"{part.patience.total_seconds():g} s"
    part.aside(f"if nobody does, the demo decides by the ledger in {seconds}")
    try:
        await part.handle.outcome(within=part.patience)
    except StepPending:
        await _signal(part, record)


async def _books(part: Part) -> str:
    """What a person hears who asks those that run the service; Surestep cannot ask them."""
    ids = [effect.id for effect in await part.effects()]
    return f"it holds {', '.join(ids)}" if ids else "it does not hold the letter"


async def _signal(part: Part, record: Record) -> None:
    """Decide as the ledger says, by the same signal that the Web UI sends."""
    effects = await part.effects()
    decision = {
        "action": record.name,
        "verdict": (Verdict.CONFIRM if effects else Verdict.RETRY).value,
        "version": record.version,
        "by": NAME,
        "note": f"the ledger holds {effects[0].id}" if effects else "the ledger does not hold it",
        **({"receipt_id": effects[0].id} if effects else {}),
    }
    part.aside(f"signal `{DECIDE}`: {decision['verdict']}, {decision['note']}")
    if part.stage.signing_key:
        unsigned = {**decision, "id": f"{part.step_id}/{NAME}", "made_at": datetime.now(UTC)}
        about = {"action_id": record.action_id, "input_hash": record.input_hash}
        told = sign(Decision.model_validate(unsigned), **about, key=part.stage.signing_key)
        decision = told.model_dump(mode="json", exclude_defaults=True)
    handle = part.stage.surestep.client.get_workflow_handle(part.step_id)
    await handle.signal(DECIDE, decision)
