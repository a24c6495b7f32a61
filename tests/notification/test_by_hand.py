"""A message that an operator completes by hand, with the button of the Web UI."""

from datetime import timedelta

import pytest

from surestep import State, Surestep
from tests.notification.test_questions import refund
from tests.saying import say
from tests.steps import facts, switches
from tests.waiting import eventually


@pytest.mark.parametrize("given", [["done"], []], ids=["text", "nothing"])
async def test_a_message_that_is_completed_by_hand_wedges_nothing(
    receiver, telling, client, queue, step_id, given
):
    tool = refund()
    receiver.fates["/hook"] = ["hold"]
    async with telling(tool, SURESTEP_NOTIFY=receiver.url()):
        surestep = Surestep(client, task_queue=queue)
        await surestep.start(step_id, tool(order="7781", iban="DE00"))

        async def pending():
            return receiver.requests() and await switches.pending(client, step_id)

        await eventually(pending)
        await (await switches.by_hand(client, step_id)).complete(*given)

        async def recorded():
            record = await facts.record(surestep, step_id)
            return record is not None and "completed by hand" in facts.told(record)

        await eventually(recorded)
        await say(surestep, step_id, "confirm", by="Ada", note="seen")
        outcome = await surestep.handle(step_id).outcome(within=timedelta(seconds=30))
    assert outcome.actions[0].state is State.CONFIRMED
