"""Signed mode: the undo of an ended step is begun only where those who may have signed it."""

from typing import Any

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from surestep import Decision, NotSigned, State, Surestep
from surestep.protocol import Undoes
from surestep.record import Record
from surestep.signature import sign
from surestep.testing import World
from tests.authority.people import authority, key_of, public
from tests.steps import facts, tools
from tests.steps.operators import LIMIT, charge
from tests.steps.signing import ruled_by, signed

RULES = authority(
    people={
        "Ada": {"keys": [public("Ada")]},
        "Carl": {"keys": [public("Carl")], "may": [{"verdicts": ["confirm"]}]},
    }
)
PAIRED = authority("Ada", "Bob", two_people=[{"tools": ["undoable"]}])


async def ended(surestep: Surestep, step_id: str) -> Record:
    """A step whose effect is confirmed, and that has ended."""
    await surestep.run(step_id, charge(tools.undoable))
    record = await facts.record(surestep, step_id)
    assert record
    return record


async def deletions(world: World, step_id: str) -> int:
    return len([one for one in await world.requests(f"{step_id}/*") if one.method == "DELETE"])


def _of_another_action(record: Record) -> Decision:
    told = signed("Ada", record, "undo")
    other = {"action_id": "another/step/undoable", "input_hash": record.input_hash}
    return sign(told, **other, key=key_of("Ada"))


NOTHING = {
    "unsigned": (lambda seen: (), "is not signed, and only signed decisions count"),
    "a signature taken away": (
        lambda seen: (signed("Ada", seen, "undo").model_copy(update={"signature": None}),),
        "it is not signed",
    ),
    "forged": (
        lambda seen: (
            signed("Eve", seen, "undo").model_copy(update={"key": signed("Ada", seen, "undo").key}),
        ),
        "it is forged or was changed",
    ),
    "unknown": (lambda seen: (signed("Eve", seen, "undo"),), "nobody here has the key"),
    "too old": (
        lambda seen: (signed("Ada", seen, "undo", made_at="2026-01-01T00:00:00Z"),),
        "it is too old",
    ),
    "expired": (
        lambda seen: (signed("Ada", seen, "undo", expires="2026-01-01T00:00:00Z"),),
        "it expired at 2026-01-01",
    ),
    "wrong person": (lambda seen: (signed("Carl", seen, "undo"),), "Carl may not undo undoable"),
    "another verdict": (lambda seen: (signed("Ada", seen, "confirm"),), "confirm was signed"),
    "another action": (lambda seen: (_of_another_action(seen),), "it is signed for the action"),
    "other arguments": (
        lambda seen: (signed("Ada", seen, "undo", input_hash="v1:other"),),
        "it is signed for other arguments",
    ),
}


async def test_an_undo_that_is_not_signed_as_it_should_be_sends_nothing_and_is_visible(
    client: Client, world: World, step_id: str
):
    async with ruled_by(RULES, client, step_id, tools.undoable) as surestep:
        record = await ended(surestep, step_id)
        undo = client.get_workflow_handle(f"{step_id}/undoable/undo")
        for kind, (made, words) in NOTHING.items():
            begun: Any = await surestep.undo(step_id, by="Mallory", signed=made(record))
            with pytest.raises(NotSigned) as refused:
                await begun.outcome(within=LIMIT)
            assert words in str(refused.value), kind
            assert (await undo.describe()).status is WorkflowExecutionStatus.FAILED
        assert await deletions(world, step_id) == 0
        begun = await surestep.undo(step_id, signed=[signed("Ada", record, "undo")])
        assert (await begun.outcome(within=LIMIT)).state is State.CONFIRMED
    assert await deletions(world, step_id) == 1


async def test_a_signed_undo_is_of_the_effect_that_the_action_had(
    client: Client, world: World, step_id: str, monkeypatch: pytest.MonkeyPatch
):
    """Whoever may start workflows puts another customer's receipt beside Ada's signature."""
    async with ruled_by(RULES, client, step_id, tools.undoable) as surestep:
        record, other = await ended(surestep, step_id), await ended(surestep, f"{step_id}-2")

        def swapped(**given: Any) -> Undoes:
            return Undoes(**given | {"receipt": other.confirmation})

        monkeypatch.setattr("surestep.operators.Undoes", swapped)
        begun: Any = await surestep.undo(step_id, signed=[signed("Ada", record, "undo")])
        with pytest.raises(NotSigned, match="and the action had"):
            await begun.outcome(within=LIMIT)
    assert await deletions(world, step_id) == 0


async def test_where_two_must_agree_one_signature_undoes_nothing(
    client: Client, world: World, step_id: str
):
    async with ruled_by(PAIRED, client, step_id, tools.undoable) as surestep:
        record = await ended(surestep, step_id)
        ada, again = signed("Ada", record, "undo"), signed("Ada", record, "undo", id="d-2")
        for told, words in (([ada], "Ada signed; one more person"), ([ada, again], "said so")):
            begun: Any = await surestep.undo(step_id, signed=told)
            with pytest.raises(NotSigned, match=words):
                await begun.outcome(within=LIMIT)
        assert await deletions(world, step_id) == 0
        begun = await surestep.undo(step_id, signed=[ada, signed("Bob", record, "undo")])
        assert (await begun.outcome(within=LIMIT)).state is State.CONFIRMED
    assert await deletions(world, step_id) == 1
