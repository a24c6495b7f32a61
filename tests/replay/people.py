"""More stories: steps that wait for people, and what they said."""

from datetime import UTC, datetime, timedelta

from surestep import Accepted, ApprovalRule, Call, Receipt, State
from tests.replay.stage import Order, Stage, breaks, is_down, tool
from tests.replay.stories import story
from tests.saying import say

ASKS = {"approval": ApprovalRule()}


async def undo_breaks(args: Order, call: Call) -> Receipt | Accepted:
    raise ConnectionResetError


@story(tool("charge", **ASKS))
async def awaits_its_approval(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.until(lambda records: records[0].asked)


@story(tool("charge", breaks, None, **ASKS))
async def approved_and_in_doubt(on: Stage) -> None:
    await on.start(tool("charge"))
    (record,) = await on.until(lambda records: records[0].asked)
    await on.surestep.decide(on.step_id, "approve", by="ann", version=record.version)
    await on.reaches(State.UNKNOWN)


@story(tool("charge", breaks, None))
async def told_to_keep_looking(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)
    until = datetime.now(UTC) + timedelta(days=365)
    await on.surestep.decide(on.step_id, "keep_looking", by="ann", until=until)


@story(tool("charge", breaks, is_down))
async def a_word_that_could_not_be_checked(on: Stage) -> None:
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)
    await say(on.surestep, on.step_id, "confirm", by="ann", receipt_id="e-7")
    await on.ends()


@story(tool("charge", undo=undo_breaks), tool("post", breaks, None))
async def undone_on_demand_while_another_waits(on: Stage) -> None:
    await on.start(tool("charge"), tool("post"), mode="parallel")
    await on.until(lambda records: records[0].confirmation and records[1].asked)
    await on.surestep.decide(f"{on.step_id}/charge", "undo", by="ann")
    await on.until(lambda records: any(one.name == "charge/undo" and one.asked for one in records))


@story(tool("charge", breaks, None, watch=timedelta(days=365)))
async def left_unknown_and_listened_for(on: Stage) -> str:
    await on.start(tool("charge"))
    await on.reaches(State.UNKNOWN)
    await say(on.surestep, on.step_id, "leave_unknown", by="ann")
    await on.ends()
    await on.surestep.notice(on.step_id, f"{on.step_id}/charge", id="e-late")
    return await on.watch_id()


@story(tool("charge", breaks, is_down))
async def decided_in_vain(on: Stage) -> None:
    """A retry that waited for its look until it had expired."""
    await on.start(tool("charge"))
    (record,) = await on.until(lambda records: records[0].asked)
    told = {"verdict": "retry", "by": "ann", "version": record.version}
    told |= {"expires": (datetime.now(UTC) + timedelta(seconds=2)).isoformat()}
    await on.client.get_workflow_handle(on.step_id).signal("decide", told)
    await on.until(lambda records: "it expired" in str(records[0].log) and records[0].asked)
