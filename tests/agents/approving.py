"""A tool whose calls somebody approves, and that somebody."""

from surestep import ApprovalRule, Surestep
from tests.steps import facts, tools
from tests.waiting import eventually

PLACE = "tests.agents.approving:approved"  # as a worker of its own finds it

approved = tools.careful("approved", "lookup", approval=ApprovalRule(), **tools.PROMPT)


async def approve(surestep: Surestep, step_id: str) -> None:
    """Waits until somebody is asked for the step, and approves it."""
    await eventually(lambda: surestep.handle(step_id).exists())
    version = (await facts.parked(surestep, step_id)).version
    assert (await surestep.decide(step_id, "approve", by="Ada", version=version)).taken
