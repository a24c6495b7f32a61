"""What agent code sees: pending steps, recalled steps, unresolved ones, and the limits."""

from datetime import timedelta

import pytest

from surestep import (
    Advice,
    InvalidArguments,
    InvalidStepId,
    NoSuchStep,
    State,
    StepConflict,
    StepPending,
)
from tests.saying import say
from tests.steps import facts, tools
from tests.waiting import eventually

LIMIT = timedelta(seconds=30)


def charge(tool, **arguments):
    return tool(**{"order": "o-1", "cents": 2500} | arguments)


async def test_recall_tells_of_a_step_that_exists_and_of_none(working, step_id):
    async with working(tools.keyed) as surestep:
        assert await surestep.recall(step_id) is None
        outcome = await surestep.run(step_id, charge(tools.keyed))
        assert await surestep.recall(step_id) == outcome


async def test_who_does_not_wait_long_gets_a_handle_and_no_invitation_to_repeat(
    working, world, step_id
):
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    async with working(tools.blind) as surestep:
        for _ in range(3):
            with pytest.raises(StepPending, match="do not repeat it") as pending:
                await surestep.run(step_id, charge(tools.blind), within=timedelta(milliseconds=300))
        await facts.parked(surestep, step_id)
        await say(surestep, step_id, "confirm", by="Ada")
        outcome = await pending.value.handle.outcome(within=LIMIT)
    assert outcome.state is State.CONFIRMED
    assert outcome.advice is Advice.DONE
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_what_waits_for_a_human_is_listed_until_it_is_answered(working, world, step_id):
    ids = {f"{step_id}/{number}" for number in range(3)}
    await world.fault(f"{step_id}/0/*", write=["reply_lost"])
    await world.fault(f"{step_id}/1/*", write=["never_arrives"])

    async def listed():
        return {one.step_id: one for one in await surestep.unresolved() if one.step_id in ids}

    async def there_are(number):
        found = await listed()
        return found if len(found) == number else None

    async with working(tools.blind) as surestep:
        for one in ids:
            await surestep.start(one, charge(tools.blind), run="run-42")
        found = await eventually(lambda: there_are(2))
        assert set(found) == {f"{step_id}/0", f"{step_id}/1"}
        for one in found.values():
            assert (one.state, one.tools, one.run) == ("unknown", ("blind",), "run-42")
            assert one.needs_human
            assert one.unknown_since
        await say(surestep, f"{step_id}/0", "confirm", by="Ada")
        await eventually(lambda: there_are(1))
        await say(surestep, f"{step_id}/1/blind", "abandon", by="Ada")

        async def none():
            return not await listed()

        await eventually(none)


@pytest.mark.parametrize(
    "tool", [tools.keyed, tools.lookup, tools.hasty], ids=lambda tool: tool.name
)
async def test_an_answer_too_large_for_the_history_is_no_failure(tool, working, world, step_id):
    await world.fault(f"{step_id}/*", write=["huge:3000000"])
    async with working(tool) as surestep:
        outcome = await surestep.run(step_id, charge(tool), within=LIMIT)
    (effect,) = await world.effects(f"{step_id}/*")
    assert outcome.state is State.CONFIRMED
    assert outcome.actions[0].receipt.id == effect.id
    assert len(outcome.model_dump_json()) < 200_000


async def test_arguments_over_the_limit_are_refused_before_anything_starts(working, world, step_id):
    async with working(tools.keyed) as surestep:
        with pytest.raises(InvalidArguments, match="reference"):
            charge(tools.keyed, order="x" * 1_100_000)
        half = [charge(tools.keyed, order="x" * 150_000).named(f"part-{n}") for n in range(2)]
        with pytest.raises(InvalidArguments, match="several steps"):
            await surestep.run(step_id, *half)
        assert not await surestep.handle(step_id).exists()
        outcome = await surestep.run(step_id, half[0])
    assert outcome.state is State.CONFIRMED
    assert await world.count() == 1


@pytest.mark.parametrize("bad", ["", " ", "räum", "a\nb", "x" * 201, "../a", "a b", "a/b\x00"])
async def test_an_id_that_cannot_be_a_key_is_refused_before_anything_starts(bad, working, world):
    async with working(tools.keyed) as surestep:
        with pytest.raises(InvalidStepId):
            await surestep.run(bad, charge(tools.keyed))
    assert await world.requests() == []


async def test_an_id_that_a_workflow_of_another_kind_has_is_a_conflict(
    working, world, client, step_id
):
    """Open, and then closed: neither is a step, and its input is nobody's business here."""
    async with working(tools.keyed) as surestep:
        await client.start_workflow("OrderFlow", "s3cret", id=step_id, task_queue="elsewhere")
        for how in ("open", "closed"):
            with pytest.raises(StepConflict, match="OrderFlow there") as conflict:
                await surestep.run(step_id, charge(tools.keyed))
            assert "s3cret" not in str(conflict.value)
            assert await surestep.recall(step_id) is None
            with pytest.raises(NoSuchStep):
                await surestep.decide(step_id, "confirm")
            if how == "open":
                await client.get_workflow_handle(step_id).terminate()
    assert await world.requests(f"{step_id}/*") == []
