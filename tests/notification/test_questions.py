"""A question of a real step reaches people, once, and says nothing that they must not read."""

import asyncio
from datetime import timedelta

from pydantic import BaseModel

from surestep import Ambiguous, Call, Contract, Effect, Receipt, State, Surestep, Tool
from surestep.contract import ApprovalRule
from tests.saying import say
from tests.steps import facts
from tests.waiting import eventually

CANARY = "CANARY"
OVERDUE = timedelta(seconds=1)


class Refund(BaseModel):
    order: str
    iban: str


def refund(**promised) -> Tool:
    contract = Contract(effect=Effect.IRREVERSIBLE, ask=True, **promised)
    tool = Tool("refund", Refund, contract, recognise="order")

    @tool.execute
    async def _(args: Refund, call: Call) -> Receipt:
        raise Ambiguous("the connection was lost")

    return tool


async def test_a_question_is_told_once_however_often_the_agent_asks(
    receiver, telling, client, queue, step_id
):
    """And once more, to somebody else, when nobody has answered."""
    tool = refund(overdue_after=OVERDUE)
    action = tool(order="7781", iban=CANARY)
    env = {
        "SURESTEP_NOTIFY": receiver.url("/usual"),
        "SURESTEP_NOTIFY_OVERDUE": receiver.url("/boss"),
    }
    async with telling(tool, **env):
        surestep = Surestep(client, task_queue=queue)
        await asyncio.gather(*(surestep.start(step_id, action) for _ in range(4)))

        async def both() -> bool:
            return all(receiver.requests(path) for path in ("/usual", "/boss"))

        await eventually(both)
        await say(surestep, step_id, "confirm", by="Ada", note="seen")
        outcome = await surestep.handle(step_id).outcome(within=timedelta(seconds=30))
    assert outcome.actions[0].state is State.CONFIRMED
    (usual,), (boss,) = receiver.messages("/usual"), receiver.messages("/boss")
    assert usual["subject"] == "Surestep: refund of 7781 is unknown"
    assert boss["subject"] == "Surestep: nobody has answered about refund of 7781"
    assert "confirm" in usual["verdicts"]
    assert usual["id"] != boss["id"]
    for path in ("/usual", "/boss"):
        (request,) = receiver.requests(path)
        assert CANARY.encode() not in request.body
        assert CANARY not in str(request.headers)


async def test_a_target_that_is_down_does_not_hold_up_the_step(
    receiver, telling, client, queue, step_id
):
    tool = refund()
    receiver.fates["/hook"] = ["hold"]
    async with telling(tool, SURESTEP_NOTIFY=receiver.url()):
        surestep = Surestep(client, task_queue=queue)
        await surestep.start(step_id, tool(order="7781", iban=CANARY))

        async def asked() -> bool:
            return bool(receiver.requests())

        await eventually(asked)
        await say(surestep, step_id, "confirm", by="Ada", note="seen")
        outcome = await surestep.handle(step_id).outcome(within=timedelta(seconds=30))
        assert outcome.actions[0].state is State.CONFIRMED


async def test_an_approval_is_asked_for_in_its_own_words(receiver, telling, client, queue, step_id):
    tool = refund(approval=ApprovalRule())
    async with telling(tool, SURESTEP_NOTIFY=receiver.url()):
        surestep = Surestep(client, task_queue=queue)
        await surestep.start(step_id, tool(order="7781", iban=CANARY))

        async def asked() -> bool:
            return bool(receiver.requests())

        await eventually(asked)
        await surestep.decide(step_id, "refuse", by="Ada", note="too much")
        await surestep.handle(step_id).outcome(within=timedelta(seconds=30))
    (message,) = receiver.messages()
    assert message["subject"] == "Surestep: refund of 7781 needs approval"
    assert CANARY not in str(message)


async def test_where_nobody_is_configured_no_step_begins_to_tell(telling, client, queue, step_id):
    tool = refund()
    async with telling(tool):
        surestep = Surestep(client, task_queue=queue)
        await surestep.start(step_id, tool(order="7781", iban=CANARY))
        await facts.parked(surestep, step_id)
        await say(surestep, step_id, "confirm", by="Ada", note="seen")
        await surestep.handle(step_id).outcome(within=timedelta(seconds=30))
    history = await client.get_workflow_handle(step_id).fetch_history()
    scheduled = {
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in history.events
        if event.HasField("activity_task_scheduled_event_attributes")
    }
    assert scheduled == {"execute"}
