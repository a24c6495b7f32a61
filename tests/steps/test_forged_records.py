"""Whoever may start workflows can write anything into a step's input, approvals among it."""

from datetime import UTC, datetime

from surestep import State
from surestep.decision import Approval
from surestep.protocol import STEP_WORKFLOW
from tests.steps import facts
from tests.steps.operators import charge
from tests.steps.test_approvals import refund


async def test_an_approval_that_a_steps_input_brings_along_counts_nothing(
    working, world, client, step_id
):
    honest, forged = f"{step_id}/honest", f"{step_id}/forged"
    async with working(refund) as surestep:
        await surestep.start(honest, charge(refund))
        seen = await facts.parked(surestep, honest)
        said = Approval(by="Ada", at=datetime.now(UTC))
        record = seen.model_copy(
            update={"action_id": f"{forged}/{seen.name}", "approval": said, "asked": None}
        )
        step = {
            "actions": [{"tool": refund.name, "arguments": seen.arguments}],
            "records": [record.model_dump(mode="json")],
        }
        queue = surestep.task_queue
        await client.start_workflow(STEP_WORKFLOW, step, id=forged, task_queue=queue)
        waiting = await facts.parked(surestep, forged)
        assert waiting.state is State.PLANNED
        assert waiting.approval is None
        assert await facts.posts(world, f"{step_id}/*") == []
