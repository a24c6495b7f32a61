"""Mail as actions of steps, on a real Temporal server."""

import pytest

from surestep import State, Verdict, confirmed, not_found
from surestep.evidence import Receipt
from tests.mail.letters import Letter
from tests.saying import say
from tests.waiting import eventually

JUNE = "june@example.com"


async def asked(surestep, step_id):
    """The names of the actions that a human is asked about, once there are any."""

    async def found():
        records = await surestep.handle(step_id).records()
        return [one.name for one in records if one.asked]

    return await eventually(found, within=40)


async def test_a_mail_that_may_have_been_taken_goes_to_a_human(working, box, tool, step_id):
    box.fates[JUNE] = ["drop after dot, taken"]
    async with working(tool) as surestep:
        handle = await surestep.start(step_id, tool(to=JUNE))
        assert await asked(surestep, step_id) == ["welcome"]
        ruling = await say(surestep, step_id, Verdict.CONFIRM, by="kim")
        assert ruling.taken, ruling.why
        outcome = await handle.outcome()
    assert outcome.state is State.CONFIRMED
    assert (len(box.to(JUNE)), box.connections) == (1, 1)


async def test_what_a_human_sends_again_has_the_same_bytes(working, box, tool, step_id):
    box.fates[JUNE] = ["drop after dot, taken"]
    async with working(tool) as surestep:
        handle = await surestep.start(step_id, tool(to=JUNE))
        await asked(surestep, step_id)
        ruling = await say(surestep, step_id, Verdict.RETRY, by="kim", accept_duplicate=True)
        assert ruling.taken, ruling.why
        assert (await handle.outcome()).state is State.CONFIRMED
    (_, first), (_, second) = box.mails
    assert first == second


async def test_what_was_refused_for_now_is_sent_again(working, box, tool, step_id):
    box.fates[JUNE] = ["drop at rcpt", "dot 451"]
    async with working(tool) as surestep:
        outcome = await surestep.run(step_id, tool(to=JUNE))
    assert outcome.state is State.CONFIRMED
    assert (len(box.to(JUNE)), box.connections) == (1, 3)


async def test_a_refused_mail_is_rejected(working, box, tool, step_id):
    box.fates[JUNE] = ["rcpt 550"]
    async with working(tool) as surestep:
        outcome = await surestep.run(step_id, tool(to=JUNE))
    assert outcome.state is State.REJECTED
    assert box.mails == []


async def test_a_lookup_of_the_author_settles_what_may_have_been_taken(working, box, tool, step_id):
    box.fates[JUNE] = ["drop after dot, taken"]

    @tool.verify
    async def _(args: Letter, call):
        wanted = tool.message_id(args, call)
        found = [mail for mail in box.to(args.to) if mail["Message-ID"] == wanted]
        return confirmed(Receipt(id=wanted)) if found else not_found()

    async with working(tool) as surestep:
        outcome = await surestep.run(step_id, tool(to=JUNE))
    assert outcome.state is State.CONFIRMED
    assert (len(box.to(JUNE)), box.connections) == (1, 1)


@pytest.mark.timeout(90)
async def test_fifty_mails_whose_worker_ends_at_one_of_them_do_not_start_again(
    working, box, tool, step_id
):
    people = [f"{number:02}@example.com" for number in range(50)]
    box.fates[people[20]] = ["silent after dot, taken"]
    box.fates[people[30]] = ["rcpt 550"]
    actions = tool.each([{"to": person} for person in people])

    async def forty_nine_taken():
        return len(box.mails) == 49

    async with working(tool) as surestep:
        handle = await surestep.start(step_id, *actions, mode="parallel")
        await eventually(forty_nine_taken, within=60)
    async with working(tool) as surestep:
        assert await asked(surestep, step_id) == [actions[20].name]
        await say(surestep, f"{step_id}/{actions[20].name}", Verdict.CONFIRM, by="kim")
        outcome = await handle.outcome()
    states = [one.state for one in outcome.actions]
    assert states.count(State.CONFIRMED) == 49
    assert states[30] is State.REJECTED
    assert sorted(to for to, _ in box.mails) == [one for one in people if one != people[30]]
    assert box.connections == 50
