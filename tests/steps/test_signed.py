"""Signed mode: a decision that is not what it should be changes nothing, and can be seen."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

import pytest
from temporalio.client import Client, WorkflowUpdateFailedError

from surestep import ApprovalRule, Decision, State, Surestep, Tool
from surestep.answer import refusal
from surestep.authority import Authority
from surestep.protocol import DECIDE
from surestep.record import Record
from surestep.testing import World
from tests.authority.people import authority, public
from tests.steps import facts, tools
from tests.steps.operators import LIMIT, charge
from tests.steps.signing import ruled_by, signed
from tests.waiting import eventually

BOTH = ["signal", "update"]
APPROVED = tools.careful(
    "approved", "keyed", key=tools.KEYED, approval=ApprovalRule(), **tools.PROMPT
)
RULES = authority(
    people={
        "Ada": {"keys": [public("Ada")]},
        "Bob": {"keys": [public("Bob")]},
        "Carl": {"keys": [public("Carl")], "may": [{"verdicts": ["abandon"]}]},
    }
)
PAIRED = authority("Ada", "Bob", two_people=[{"tools": ["blind"]}])

Ruled = Callable[..., AbstractAsyncContextManager[Surestep]]


@pytest.fixture
def ruled(client: Client, step_id: str) -> Ruled:
    """A worker that takes signed decisions only."""

    def run(*known: Tool, rules: Authority = RULES) -> AbstractAsyncContextManager[Surestep]:
        return ruled_by(rules, client, step_id, *known)

    return run


async def send(surestep: Surestep, step_id: str, told: Decision, how: str = "update") -> str:
    """The words in which it is refused; empty where it is taken."""
    handle = surestep.client.get_workflow_handle(step_id)
    if how == "update":
        try:
            await handle.execute_update(DECIDE, told)
        except WorkflowUpdateFailedError as error:
            return refusal(error).why
        return ""
    before = await facts.record(surestep, step_id)
    await handle.signal(DECIDE, told)

    async def recorded() -> str | None:
        now = await facts.record(surestep, step_id)
        return now.log[-1].text if now.log != before.log else None

    return (await eventually(recorded)).partition("refused, ")[2]


async def asked(surestep: Surestep, world: World, step_id: str) -> Record:
    """A step that waits for a human; its effect exists."""
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    await surestep.start(step_id, charge(tools.blind))
    return await facts.parked(surestep, step_id)


async def unmoved(surestep: Surestep, world: World, before: Record, words: str) -> None:
    """Nothing has changed but the log, and the Web UI shows why."""
    step_id = before.action_id.rpartition("/")[0]
    after = await facts.record(surestep, step_id)
    log = {"log": (), "refused_decisions": 0}
    assert after.model_copy(update=log) == before.model_copy(update=log)
    shown = await facts.details(surestep, step_id)
    assert words[:60] in shown.partition("### Refused")[2]
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


NOTHING = {
    "unsigned": (
        lambda seen: signed("Ada", seen, "retry").model_copy(update={"signature": None}),
        "it is not signed",
    ),
    "forged": (
        lambda seen: signed("Eve", seen, "retry").model_copy(
            update={"key": signed("Ada", seen, "retry").key}
        ),
        "it is forged or was changed",
    ),
    "changed": (
        lambda seen: signed("Ada", seen, "abandon").model_copy(update={"verdict": "retry"}),
        "it is forged or was changed",
    ),
    "unknown": (lambda seen: signed("Eve", seen, "retry"), "nobody here has the key"),
    "expired": (
        lambda seen: signed("Ada", seen, "retry", expires=datetime(2026, 1, 1, tzinfo=UTC)),
        "it expired at 2026-01-01",
    ),
    "too old": (
        lambda seen: signed("Ada", seen, "retry", made_at=datetime(2026, 1, 1, tzinfo=UTC)),
        "it is too old",
    ),
    "other arguments": (
        lambda seen: signed("Ada", seen, "retry", input_hash="v1:other"),
        "it answers the arguments",
    ),
    "wrong person": (lambda seen: signed("Carl", seen, "retry"), "Carl may not retry blind"),
    "older version": (
        lambda seen: signed("Ada", seen, "retry", version=seen.version - 1),
        "it answers version",
    ),
}


@pytest.mark.parametrize("how", BOTH)
async def test_what_is_not_signed_as_it_should_be_changes_nothing_and_is_visible(
    how, ruled, world, step_id
):
    async with ruled(tools.blind) as surestep:
        record = await asked(surestep, world, step_id)
        for kind, (made, words) in NOTHING.items():
            why = await send(surestep, step_id, made(record), how)
            assert why.startswith(words), kind
            await unmoved(surestep, world, record, words)
        assert await send(surestep, step_id, signed("Ada", record, "confirm"), how) == ""
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert "Ada decided to confirm" in facts.told(outcome)
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


@pytest.mark.parametrize("how", BOTH)
async def test_a_decision_about_one_action_says_nothing_about_another(how, ruled, world, step_id):
    """Moved to another step as it is, moved within the step, and moved with a changed address."""
    one, other = charge(tools.blind).named("one"), charge(tools.blind).named("other")
    await world.fault(f"{step_id}*", write=["reply_lost"] * 3)
    async with ruled(tools.blind) as surestep:
        await surestep.start(step_id, one, other, mode="parallel")
        await surestep.start(f"{step_id}-2", charge(tools.blind))
        seen = await eventually(lambda: _asked_about(surestep, step_id, "one"))
        await eventually(lambda: _asked_about(surestep, step_id, "other"))
        foreign = await facts.parked(surestep, f"{step_id}-2")
        told = signed("Ada", seen, "retry", version=foreign.version)
        moved = told.model_copy(update={"action": foreign.action_id})
        assert (await send(surestep, f"{step_id}-2", told, "update")).startswith("no action")
        assert (await send(surestep, f"{step_id}-2", moved, how)).startswith("it is forged")
        await unmoved(surestep, world, foreign, "it is forged")
        within = told.model_copy(update={"action": "other"})
        why = await send(surestep, step_id, within, "update")
        assert why.startswith("it is forged")
        still = await facts.record(surestep, step_id, "other")
        assert still.state is State.UNKNOWN
        assert len(await facts.posts(world, f"{step_id}/*")) == 2


async def _asked_about(surestep: Surestep, step_id: str, name: str) -> Record | None:
    record = await facts.record(surestep, step_id, name)
    return record if record and record.asked else None


@pytest.mark.parametrize("how", BOTH)
async def test_a_replayed_decision_is_applied_once(how, ruled, world, step_id):
    """Whoever has read it in the history sends it again, when the retry was lost as well."""
    async with ruled(tools.blind) as surestep:
        await world.fault(f"{step_id}/*", write=["never_arrives"] * 5)
        await surestep.start(step_id, charge(tools.blind))
        first = await facts.parked(surestep, step_id)
        told = signed("Ada", first, "retry")
        assert await send(surestep, step_id, told, "update") == ""

        async def again() -> Record | None:
            now = await facts.record(surestep, step_id)
            return now if now.asked and now.doubt.attempts == 2 else None

        second = await eventually(again)
        why = await send(surestep, step_id, told, how)
        assert "was taken before; nothing more was done" in why
        after = await facts.record(surestep, step_id)
        assert (after.version, after.attempts) == (second.version, 2)
        assert "was taken before" in await facts.details(surestep, step_id)
        renamed = told.model_copy(update={"id": "d-new"})
        assert (await send(surestep, step_id, renamed, how)).startswith("it answers version")
    assert len(await facts.posts(world, f"{step_id}/*")) == 2


@pytest.mark.parametrize("how", BOTH)
async def test_one_of_two_changes_nothing_and_the_second_person_settles_it(
    how, ruled, world, step_id
):
    async with ruled(tools.blind, rules=PAIRED) as surestep:
        record = await asked(surestep, world, step_id)
        assert await send(surestep, step_id, signed("Ada", record, "confirm"), how) == ""
        waiting = await facts.record(surestep, step_id)
        assert (waiting.state, waiting.version) == (State.UNKNOWN, record.version)
        assert "Ada decided to confirm; one more person must agree" in facts.told(waiting)
        why = await send(surestep, step_id, signed("Ada", record, "confirm", id="again"), how)
        assert why.startswith("Ada has said so already")
        assert (await facts.record(surestep, step_id)).state is State.UNKNOWN
        assert await send(surestep, step_id, signed("Bob", record, "confirm"), how) == ""
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert "Bob decided to confirm" in facts.told(outcome)
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_two_people_must_say_the_same(ruled, world, step_id):
    """One confirms one effect, the other another: neither of them has two people behind it."""
    async with ruled(tools.blind, rules=PAIRED) as surestep:
        record = await asked(surestep, world, step_id)
        told = [
            signed("Ada", record, "confirm", receipt_id="re_1"),
            signed("Bob", record, "confirm", receipt_id="re_2"),
        ]
        for one in told:
            assert await send(surestep, step_id, one) == ""
            known = await facts.record(surestep, step_id)
            assert known.state is State.UNKNOWN, facts.told(known)
        agreed = signed("Bob", record, "confirm", receipt_id="re_1", id="d-3")
        assert await send(surestep, step_id, agreed) == ""
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.actions[0].receipt.id == "re_1"


async def test_whoever_requested_it_cannot_approve_it(ruled, world, step_id):
    async with ruled(APPROVED) as surestep:
        await surestep.start(step_id, charge(APPROVED), requester="ada")
        record = await facts.parked(surestep, step_id)
        why = await send(surestep, step_id, signed("Ada", record, "approve"))
        assert why.startswith("Ada has requested it and may not approve it")
        assert await facts.posts(world, f"{step_id}/*") == []
        assert await send(surestep, step_id, signed("Bob", record, "approve")) == ""
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert await world.count(f"{step_id}/*") == 1


async def test_the_name_that_is_recorded_is_the_keys_not_the_claimed_one(ruled, world, step_id):
    async with ruled(tools.blind) as surestep:
        record = await asked(surestep, world, step_id)
        assert await send(surestep, step_id, signed("Bob", record, "confirm", by="the cfo")) == ""
        outcome = await surestep.handle(step_id).outcome(within=LIMIT)
    assert "Bob decided to confirm" in facts.told(outcome)
    assert "the cfo" not in facts.told(outcome)
