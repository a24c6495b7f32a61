"""What humans and services say about an action, by signal and by update."""

import asyncio

import pytest
from temporalio.client import WorkflowUpdateFailedError

from surestep import State, Surestep
from surestep.testing import World
from tests.saying import say, signal
from tests.steps import facts, tools
from tests.steps.operators import LIMIT, charge
from tests.waiting import eventually

named = pytest.mark.parametrize


async def by_update(surestep: Surestep, step_id: str, **decision):
    return await say(surestep, step_id, **decision)


async def by_signal(surestep: Surestep, step_id: str, **decision):
    await signal(surestep.client, step_id, **decision)


both = named("decide", [by_update, by_signal], ids=["update", "signal"])


async def asked_about(surestep: Surestep, world: World, step_id: str, tool, write: str, **faults):
    """A step that has come to the point where a human is asked."""
    await world.fault(f"{step_id}/*", write=[write], **faults)
    await surestep.start(step_id, charge(tool))
    return await facts.parked(surestep, step_id)


async def outcome_of(surestep: Surestep, step_id: str):
    return (await surestep.handle(step_id).outcome(within=LIMIT)).actions[0]


@both
async def test_a_human_can_say_that_it_happened(decide, working, world, step_id):
    async with working(tools.blind) as surestep:
        await asked_about(surestep, world, step_id, tools.blind, "reply_lost")
        await decide(surestep, step_id, verdict="confirm", by="Ada", note="seen in the ledger")
        outcome = await outcome_of(surestep, step_id)
    assert outcome.state is State.CONFIRMED
    assert "Ada decided to confirm (seen in the ledger)" in facts.told(outcome)
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


@both
async def test_a_human_can_let_it_be_sent_again(decide, working, world, step_id):
    async with working(tools.hasty) as surestep:
        await asked_about(surestep, world, step_id, tools.hasty, "never_arrives")
        await decide(surestep, step_id, verdict="retry", by="Ada")
        outcome = await outcome_of(surestep, step_id)
    assert outcome.state is State.CONFIRMED
    assert await world.count(f"{step_id}/*") == 1
    sent = await facts.posts(world, f"{step_id}/*")
    assert len(sent) == 2
    assert len({(one.key, one.sha256) for one in sent}) == 1


@both
async def test_a_human_can_give_it_up_and_it_is_watched(decide, working, world, client, step_id):
    async with working(tools.hasty) as surestep:
        await asked_about(surestep, world, step_id, tools.hasty, "never_arrives")
        await decide(surestep, step_id, verdict="abandon", by="Ada")
        outcome = await outcome_of(surestep, step_id)
        query = f"WorkflowType = 'LateWatch' AND WorkflowId STARTS_WITH '{step_id}/'"

        async def watches():
            return (await client.count_workflows(f"{query} AND ExecutionStatus = 'Running'")).count

        assert await eventually(watches) == 1
    assert outcome.state is State.NOT_FOUND
    assert await world.count(f"{step_id}/*") == 0


@both
@named("verdict", ["retry", "abandon"])
async def test_what_has_become_visible_is_seen_before_a_decision_is_obeyed(
    verdict, decide, working, world, step_id
):
    """The human looks at an old screen: meanwhile the replica has caught up."""
    lookups = ["miss"] * 1000
    async with working(tools.hasty) as surestep:
        record = await asked_about(
            surestep, world, step_id, tools.hasty, "reply_lost", lookup=lookups
        )
        # Right after a look, so that the next one is the one that the decision asks for.
        await facts.looked(surestep, step_id, times=record.looks.total + 1)
        await world.fault(f"{step_id}/*", lookup=[])
        await decide(surestep, step_id, verdict=verdict, by="Ada")
        outcome = await outcome_of(surestep, step_id)
    assert outcome.state is State.CONFIRMED
    assert f"the decision to {verdict} was not carried out" in facts.told(outcome)
    assert bool(outcome.anomalies) is (verdict == "abandon")
    assert await world.count(f"{step_id}/*") == 1
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_double_click_sends_once(working, world, step_id):
    async with working(tools.hasty) as surestep:
        record = await asked_about(surestep, world, step_id, tools.hasty, "never_arrives")
        clicks = [
            surestep.decide(step_id, "retry", by="Ada", version=record.version) for _ in range(2)
        ]
        rulings = await asyncio.gather(*clicks)
        outcome = await outcome_of(surestep, step_id)
    assert sorted(ruling.taken for ruling in rulings) == [False, True]
    assert outcome.state is State.CONFIRMED
    assert await world.count(f"{step_id}/*") == 1
    assert len(await facts.posts(world, f"{step_id}/*")) == 2


async def test_a_double_click_by_signal_sends_once_even_if_that_is_lost_as_well(
    working, world, step_id
):
    """The second signal must not count as an answer to the next question."""
    decision = {"verdict": "retry", "by": "Ada", "id": "d1"}
    async with working(tools.blind) as surestep:
        await world.fault(f"{step_id}/*", write=["never_arrives"] * 5)
        await surestep.start(step_id, charge(tools.blind))
        first = await facts.parked(surestep, step_id)
        await by_signal(surestep, step_id, **decision)
        await eventually(lambda: second_question(surestep, world, step_id))
        await by_signal(surestep, step_id, **decision)
        ruling = await say(surestep, step_id, "retry", by="Ada", id="d1")
        assert not ruling.taken
        assert "d1" in ruling.why
        without_id = await surestep.decide(step_id, "retry", by="Ada", version=first.version)
        assert f"it answers version {first.version}" in without_id.why
        record = await facts.record(surestep, step_id)
    assert record.state is State.UNKNOWN
    assert "d1 was taken before" in facts.told(record)
    assert len(await facts.posts(world, f"{step_id}/*")) == 2


async def second_question(surestep, world, step_id):
    record = await facts.record(surestep, step_id)
    return record.asked and len(await facts.posts(world, f"{step_id}/*")) == 2


async def test_a_decision_on_an_old_version_is_refused_and_one_on_the_new_is_taken(
    working, world, step_id
):
    async with working(tools.blind) as surestep:
        record = await asked_about(surestep, world, step_id, tools.blind, "reply_lost")
        stale = await surestep.decide(step_id, "retry", by="Ada", version=record.version - 1)
        assert not stale.taken
        assert stale.version == record.version
        fresh = await surestep.decide(step_id, "confirm", by="Ada", version=stale.version)
        assert fresh.taken
        outcome = await outcome_of(surestep, step_id)
    assert "Ada decided to retry: refused" in facts.told(outcome)
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def test_a_decision_that_names_no_version_changes_nothing_and_is_told_what_to_send(
    working, world, step_id
):
    """By signal, as from the Web UI, it is answered in the details; an update says it at once."""
    async with working(tools.blind) as surestep:
        record = await asked_about(surestep, world, step_id, tools.blind, "reply_lost")
        handle = surestep.client.get_workflow_handle(step_id)
        for verdict in ("retry", "abandon", "leave_unknown", "confirm"):
            unseen = {"verdict": verdict, "by": "Ada", "note": f"it is {verdict}"}
            await handle.signal("decide", unseen)
            words = f"Ada decided to {verdict.replace('_', ' ')}: refused, it names no version"
            await eventually(lambda words=words: shown(surestep, step_id, words))
            ruling = await surestep.decide(step_id, **unseen)
            assert (ruling.taken, ruling.version) == (False, record.version)
            with pytest.raises(WorkflowUpdateFailedError) as refused:
                await handle.execute_update("decide", unseen)
        now = await facts.record(surestep, step_id)
        assert now.version == record.version
        assert (await handle.execute_update("decide", ruling.block))["taken"]
        outcome = await outcome_of(surestep, step_id)
    assert str(refused.value.cause).endswith(', "note": "it is confirm", "version": 4}')
    assert "Ada decided to confirm (it is confirm)" in facts.told(outcome)
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


@named(("first", "second"), [("retry", "abandon"), ("abandon", "retry")])
async def test_of_two_opposite_answers_none_starts_a_send_over_a_stop(
    first, second, working, world, step_id
):
    async with working(tools.hasty) as surestep:
        await asked_about(surestep, world, step_id, tools.hasty, "never_arrives")
        await world.fault(f"{step_id}/*", lookup=["hang"])  # so that the first is not yet done
        one = await say(surestep, step_id, first, by="Ada")
        other = await say(surestep, step_id, second, by="Bob")
        outcome = await outcome_of(surestep, step_id)
    assert one.taken
    assert other.taken is (second == "abandon")
    assert outcome.state is State.NOT_FOUND
    assert await world.count(f"{step_id}/*") == 0
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


@named("verdict", ["confirm", "retry", "abandon"])
async def test_a_decision_after_the_end_is_answered_as_too_late(verdict, working, world, step_id):
    async with working(tools.keyed) as surestep:
        before = await surestep.run(step_id, charge(tools.keyed))
        for target in (step_id, f"{step_id}/keyed"):
            ruling = await say(surestep, target, verdict, by="Ada")
            assert not ruling.taken
            assert "too late" in ruling.why
            assert ruling.state == State.CONFIRMED
        assert await surestep.recall(step_id) == before
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


@both
async def test_a_decision_on_another_action_is_refused_and_recorded(
    decide, working, world, step_id
):
    async with working(tools.blind) as surestep:
        await asked_about(surestep, world, step_id, tools.blind, "reply_lost")
        await decide_on("nobody", decide, surestep, step_id)
        await eventually(lambda: shown(surestep, step_id, "nobody"))
        record = await facts.record(surestep, step_id)
        assert "nobody" in facts.told(record)
        assert record.decision is None
    assert len(await facts.posts(world, f"{step_id}/*")) == 1


async def decide_on(action, decide, surestep, step_id):
    if decide is by_signal:
        await by_signal(surestep, step_id, action=action, verdict="retry")
    else:
        ruling = await say(surestep, f"{step_id}/{action}", "retry")
        assert not ruling.taken


OTHER_ORDER = (
    "import workflows.late_watch, workflows.agent_step, worker, sys; sys.exit(worker.main())"
)


async def test_a_worker_that_loads_its_modules_in_another_order_takes_decisions(
    workers, world, client, step_id
):
    """A handler that is not registered would make every decision wait in silence."""
    surestep = Surestep(client, task_queue=workers.queue)
    await world.fault(f"{step_id}/*", write=["reply_lost"])
    await workers.start("-c", OTHER_ORDER)
    await surestep.start(step_id, charge(tools.blind))
    await facts.parked(surestep, step_id, within=60)
    await by_signal(surestep, step_id, verdict="confirm", by="Ada")
    assert (await outcome_of(surestep, step_id)).state is State.CONFIRMED


async def shown(surestep, step_id, text):
    return text in await facts.details(surestep, step_id)
