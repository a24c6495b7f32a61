"""Signed mode: a notice that no source has signed confirms nothing, and is a reason to look."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment

from activities.handover import _notice
from surestep import Receipt, State, Surestep
from surestep.evidence import Sending
from surestep.notice import Notice
from surestep.protocol import NOTICE, SendOrder, SendReport
from surestep.record import Record
from surestep.signature import sign_notice
from surestep.testing import World
from tests.authority.people import authority, key_of, public
from tests.steps import facts, tools
from tests.steps.operators import LIMIT, charge
from tests.steps.signing import ruled_by, signed
from tests.waiting import eventually

RULES = authority(
    "Ada",
    sources={
        "webhooks": {"keys": [public("webhooks")]},
        "elsewhere": {"keys": [public("elsewhere")], "tools": ["lookup"]},
    },
)


def notice(signer: str, key: str, **said: Any) -> Notice:
    return sign_notice(Notice(key=key, id="ef_1", **said), key_of(signer))


def wrong(key: str) -> dict[str, tuple[Notice, str]]:
    """What says nothing about the action with this key, and why."""
    right = notice("webhooks", key)
    named = notice("webhooks", key.rpartition("/")[2])
    return {
        "unsigned": (Notice(key=key, id="ef_1"), "it is not signed"),
        "changed": (right.model_copy(update={"id": "ef_2"}), "it is forged or was changed"),
        "turned round": (right.model_copy(update={"happened": False}), "it is forged"),
        "forged": (notice("eve", key).model_copy(update={"signed_by": right.signed_by}), "forged"),
        "unknown": (notice("eve", key), "no source here has the key"),
        "a person": (notice("Ada", key), "no source here has the key"),
        "for another tool": (notice("elsewhere", key), "elsewhere may not speak about blind"),
        "by the action's name, which others have as well": (named, "which is no key of this"),
    }


async def _count(surestep: Surestep, step_id: str, count: int) -> Record | None:
    record = await facts.record(surestep, step_id)
    return record if record and record.refused_decisions == count else None


async def test_a_notice_counts_only_with_the_signature_of_one_who_may_send_it(
    client: Client, world: World, step_id: str
):
    key = f"{step_id}/blind"
    await world.fault(f"{step_id}*", write=["never_arrives"])
    async with ruled_by(RULES, client, step_id, tools.blind) as surestep:
        await surestep.start(step_id, charge(tools.blind))
        before = await facts.parked(surestep, step_id)
        step = client.get_workflow_handle(step_id)
        for count, (kind, (said, words)) in enumerate(wrong(key).items(), 1):
            await step.signal(NOTICE, said)
            record = await eventually(lambda count=count: _count(surestep, step_id, count))
            assert words in record.log[-1].text, kind
            assert words in (await facts.details(surestep, step_id)).partition("Refused")[2], kind
            ignored = {"log": (), "refused_decisions": 0, "hinted": None}
            assert record.model_copy(update=ignored) == before.model_copy(update=ignored)
        await surestep.notice(step_id, key, id="ef_1", sign=key_of("webhooks"))
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert outcome.actions[0].receipt.id == "ef_1"


async def test_after_the_end_it_is_the_same(client: Client, world: World, step_id: str):
    key = f"{step_id}/blind"
    await world.fault(f"{step_id}/*", write=["never_arrives"])
    async with ruled_by(RULES, client, step_id, tools.blind) as surestep:
        await surestep.start(step_id, charge(tools.blind))
        record = await facts.parked(surestep, step_id)
        left = signed("Ada", record, "leave_unknown")
        await surestep.client.get_workflow_handle(step_id).signal("decide", left)
        await surestep.handle(step_id).outcome(within=LIMIT)
        await eventually(lambda: surestep.notice(step_id, key, id="ef_1"))
        (watch,) = [one async for one in client.list_workflows(_watches_of(step_id))]
        seen = await eventually(lambda: _count(surestep, watch.id, 1))
        assert seen.anomalies == ()
        assert await surestep.notice(step_id, key, id="ef_1", sign=key_of("webhooks"))

        async def late() -> bool:
            now = await facts.record(surestep, watch.id)
            return bool(now and [one.kind for one in now.anomalies] == ["late"])

        await eventually(late)


def _watches_of(step_id: str) -> str:
    return f"WorkflowType = 'LateWatch' AND WorkflowId STARTS_WITH '{step_id}/'"


async def test_a_notice_that_does_not_count_is_a_reason_to_look(
    client: Client, world: World, step_id: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("surestep.fold.HINTS_APART", timedelta(0))
    monkeypatch.setattr("surestep.agenda.backoff", lambda failures, cap: timedelta(hours=1))
    await world.fault(f"{step_id}/*", write=["reply_lost"], lookup=["miss"] * 1000)
    async with ruled_by(RULES, client, step_id, tools.hasty) as surestep:
        await surestep.start(step_id, charge(tools.hasty))
        await facts.parked(surestep, step_id)
        await world.fault(f"{step_id}/*", lookup=[])
        await surestep.notice(step_id, f"{step_id}/hasty", id="ef_unsigned")
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert outcome.actions[0].receipt.id != "ef_unsigned"
    assert "a notice does not count: it is not signed" in facts.told(outcome)


async def test_what_only_a_worker_knows_counts_with_its_signature(
    client: Client, world: World, step_id: str
):
    """The answer of an attempt that the server has given up; `activities.handover` says when."""
    key = f"{step_id}/blind"
    await world.fault(f"{step_id}/*", write=["never_arrives"])
    async with ruled_by(RULES, client, step_id, tools.blind) as surestep:
        await surestep.start(step_id, charge(tools.blind))
        record = await facts.parked(surestep, step_id)
        report = SendReport(outcome=Sending.ANSWERED, receipt=Receipt(id="ef_1"))
        order = SendOrder(
            key=key,
            tool="blind",
            arguments=record.arguments,
            attempt=1,
            run_id="",
            timeout=1.0,
            room=1000,
        )
        on_the_worker = ActivityEnvironment(client=client)
        on_the_worker.info = replace(on_the_worker.info, workflow_id=step_id)
        await on_the_worker.run(_notice, report, order, None)
        await eventually(lambda: _count(surestep, step_id, 1))
        await on_the_worker.run(_notice, report, order, key_of("webhooks"))
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert outcome.actions[0].receipt.id == "ef_1"
