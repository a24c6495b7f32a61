"""`decide` as a person uses it: on a real terminal, without a verdict."""

import asyncio
import re

import pytest
from temporalio.client import WorkflowExecutionStatus

from surestep import Surestep
from surestep.record import Record
from tests.saying import say

from . import tools
from .conftest import forgotten, parked
from .conversation import CTRL_C, CTRL_D, Conversation, conversation

pytestmark = pytest.mark.asyncio(loop_scope="session")

FACTS = ("action", "state", "about", "happened", "proven", "forbidden", "next")


async def lost(surestep: Surestep, step_id: str) -> None:
    await surestep.start(step_id, tools.letter(to="ada", fate="lost"))
    await parked(surestep, step_id)


async def record(surestep: Surestep, step_id: str) -> Record:
    (known,) = await surestep.handle(step_id).records()
    return known


async def chooses(talk: Conversation, verdict: str) -> None:
    """Type the number that stands before the verdict."""
    listed = await talk.reads("What do you say")
    (number,) = re.findall(rf"^ +(\d+)  {verdict} ", listed, re.MULTILINE)
    talk.types(number)


async def test_a_person_is_led_from_the_list_to_a_settled_action(terminal, surestep):
    await lost(surestep, "interview/led")
    async with conversation(terminal, "decide") as talk:
        listed = await talk.reads("Which one")
        (number,) = re.findall(r"^(\d+) +unknown +.* interview/led$", listed, re.MULTILINE)
        talk.types("the first")
        await talk.answers("Which one", "0")
        await talk.answers("Which one", number)
        asked = await talk.reads("What do you say")
        places = [asked.index(f"\n{label} ") for label in FACTS]
        assert places == sorted(places)
        assert asked.index("\nnext") < asked.index("1  confirm")
        talk.types("7")
        await talk.reads("a number from 1 to 5")
        await talk.answers("What do you say", "1")
        await talk.answers("own id of the effect", "L-77")
        await talk.answers("How do you know", "")
        await talk.answers("How do you know", "x" * 1001)
        await talk.reads("1000 are kept")
        await talk.answers("How do you know", "up\x1b[A")
        await talk.reads("no text")
        await talk.answers("How do you know", "it is in the log")
        await talk.answers("confirm interview/led/letter as L-77, says ada [y/N]", "perhaps")
        await talk.answers("[y/N]", "y")
        assert await talk.ends() == 0
        assert "confirmed on your word" in talk.shown
        said = [line for line in talk.seen.splitlines() if not line.startswith("How do you know")]
        assert max(map(len, said)) <= 80
        assert "\x1b[" in talk.raw, "on a terminal there are colours"
    outcome = await surestep.recall("interview/led")
    assert outcome.actions[0].receipt.id == "L-77"
    assert "ada decided to confirm (it is in the log)" in [one.text for one in outcome.evidence]


@pytest.mark.parametrize(("key", "code"), [(CTRL_C, 130), (CTRL_D, 7)])
async def test_whoever_leaves_leaves_everything_as_it_was(terminal, surestep, key, code):
    step_id = f"interview/left-{code}"
    await lost(surestep, step_id)
    before = await record(surestep, step_id)
    async with conversation(terminal, "decide", step_id) as talk:
        await chooses(talk, "retry")
        await talk.reads("How do you know")
        talk.presses(key)
        assert await talk.ends() == code
        assert "nothing was sent" in talk.shown
    assert await record(surestep, step_id) == before


async def test_of_two_who_decide_at_once_the_second_is_shown_what_the_first_has_said(
    terminal, surestep
):
    await lost(surestep, "interview/two")
    async with (
        conversation(terminal.where(USER="ada", LOGNAME="ada"), "decide", "interview/two") as ada,
        conversation(terminal.where(USER="bob", LOGNAME="bob"), "decide", "interview/two") as bob,
    ):
        await chooses(bob, "abandon")
        await chooses(ada, "keep_looking")
        await ada.answers("Until when", "tomorrow")
        await ada.reads("'tomorrow' is no time")
        await ada.answers("Until when", "2020-01-01")
        await ada.reads("has passed")
        await ada.answers("Until when", "2h")
        await ada.answers("How do you know", "the post office calls back")
        await ada.answers("says ada [y/N]", "y")
        assert await ada.ends() == 0
        await bob.answers("How do you know", "the box is empty")
        await bob.answers("abandon interview/two/letter, says bob [y/N]", "y")
        assert await bob.ends() == 7
        answer = bob.seen[bob.seen.index("ruling") :]
        assert "not taken: it answers version" in answer
        assert "as it stands now" in answer
        assert "decided     to keep looking" in answer
    assert (await record(surestep, "interview/two")).closed is None


async def test_of_a_step_with_several_actions_the_one_that_is_meant_is_decided(terminal, surestep):
    one = tools.letter(to="ada", fate="lost")
    await surestep.start("interview/several", one.named("a"), one.named("b"), mode="parallel")
    await parked(surestep, "interview/several")
    async with conversation(
        terminal, "decide", "interview/several", "--note", "seen", "--by", "eve"
    ) as talk:
        await talk.reads("1  unknown    a\n")
        await talk.reads("2  unknown    b\n")
        await talk.answers("Which action", "2")
        await chooses(talk, "confirm")
        await talk.answers("own id of the effect", "")
        await talk.answers("confirm interview/several/b, says eve [y/N]", "yes")
        assert await talk.ends() == 0
    first, second = await surestep.handle("interview/several").records()
    assert (first.state, second.state) == ("unknown", "confirmed")
    assert any("eve decided to confirm (seen)" in line.text for line in second.log)


async def test_what_is_approved_is_shown_first_and_said_no_to_by_enter(terminal, surestep):
    await surestep.start("interview/payment", tools.payment(to="ada", cents=4200))
    await parked(surestep, "interview/payment")
    for answer, code in (("", 7), ("y", 0)):
        async with conversation(terminal, "decide", "interview/payment", "approve") as talk:
            shown = await talk.reads("approve interview/payment/payment, says ada [y/N]")
            assert 'arguments   {"cents": 4200, "to": "ada"}' in shown
            assert "nothing was applied" in shown
            assert "interview/payment/payment" not in tools.posted
            talk.types(answer)
            assert await talk.ends() == code
    outcome = await surestep.recall("interview/payment")
    assert outcome.state == "confirmed"
    assert tools.posted.count("interview/payment/payment") == 1


async def test_a_step_that_ends_while_somebody_answers_takes_no_decision_any_more(
    terminal, surestep
):
    await lost(surestep, "interview/ended")
    async with conversation(terminal, "decide", "interview/ended") as talk:
        await chooses(talk, "abandon")
        await say(surestep, "interview/ended", "confirm", by="bob")
        await surestep.recall("interview/ended")
        await talk.answers("How do you know", "the box is empty")
        await talk.answers("[y/N]", "y")
        assert await talk.ends() == 7
        assert "too late: the step is already settled as confirmed since" in talk.shown
        assert "the word of bob" in talk.shown
    described = await surestep.handle("interview/ended").describe()
    assert described.status is WorkflowExecutionStatus.COMPLETED


async def test_without_facts_nobody_is_asked(terminal, elsewhere, surestep):
    alone = type(surestep)(surestep.client, task_queue="nobody")
    await alone.start("interview/nobody", tools.letter(to="ada", fate="lost"))
    await surestep.run("interview/over", tools.letter(to="ada"))
    async with (
        conversation(elsewhere, "decide", "interview/nobody") as unread,
        conversation(terminal, "decide", "interview/over") as over,
    ):
        assert await asyncio.gather(unread.ends(), over.ends()) == [7, 7]
        assert "without one the facts cannot be shown" in unread.shown
        assert "too late: the step is already settled as confirmed" in over.shown
    await forgotten(surestep, "interview/nobody")
