"""R13: a human's word that it happened is checked where it can be; evidence beats it."""

import pytest

from surestep.contract import KeySupport
from surestep.decision import Verdict
from surestep.evidence import (
    Receipt,
    Sending,
    State,
    confirmed,
    not_found,
    pending,
    rejected,
    unknown,
)
from surestep.policy import Ask, Finish, Send, Verify

from .story import BLIND, LIFETIME, NO_PROMISES, PLAIN, Story, but, hours

CONFIRM = Verdict.CONFIRM
NO_PROMISES_KEYED = but(NO_PROMISES, key=KeySupport(lifetime=LIFETIME))


def told(contract=PLAIN, **said) -> Story:
    """Asked because the lookups failed, and told that it happened."""
    story = Story(contract).lost().proceeds(lambda: unknown("503"), to=Ask).asked().after(hours(1))
    return story.says(CONFIRM, **said)


def test_what_cannot_be_looked_up_is_confirmed_on_the_word_alone():
    story = Story(BLIND, sees=False).lost().proceeds(to=Ask).asked().says(CONFIRM, receipt_id="1")
    assert story.state is State.CONFIRMED
    assert story.record.confirmation == Receipt(id="1", status="asserted by ann")


def test_a_word_that_the_lookup_confirms_is_confirmed_by_the_lookup():
    story = told(receipt_id="re_1").looks(confirmed(Receipt(id="re_1")))
    assert story.ends(State.CONFIRMED)
    assert story.record.confirmed_by == "a lookup"
    assert story.anomalies == []


def test_another_id_than_the_one_that_is_found_is_a_contradiction():
    story = told(receipt_id="re_9").looks(confirmed(Receipt(id="re_1")))
    assert story.record.confirmation.id == "re_1"
    assert story.anomalies == ["contradicted"]


@pytest.mark.parametrize(
    ("contract", "seen"),
    [
        (PLAIN, unknown("503")),
        (PLAIN, pending("running")),
        (NO_PROMISES, not_found()),
        (PLAIN, unknown("half", holds=["row"], missing=["event"])),
        (PLAIN, confirmed(Receipt(id="re_1"), differs=["cents"])),
    ],
    ids=["failed", "pending", "a miss that proves nothing", "half", "another amount"],
)
def test_a_word_that_the_lookup_can_neither_prove_nor_disprove_stands_as_a_word(contract, seen):
    story = told(contract).looks(seen)
    assert story.ends(State.CONFIRMED)
    assert story.record.asserted
    assert "could not check" in story.record.log[-1].text


def test_a_word_against_proven_absence_is_not_carried_out_and_nothing_is_sent_over_it():
    story = told().looks(not_found())
    assert story.state is not State.CONFIRMED
    assert story.anomalies == ["contradicted"]
    asked_again = False
    for move in story.moves(not_found, 40):
        assert not isinstance(move, Send)
        asked_again = asked_again or isinstance(move, Ask)
    assert asked_again
    assert "ann said that it happened" in story.record.asked_why


def test_whoever_insists_against_proven_absence_is_believed():
    story = told().looks(not_found()).proceeds(not_found, to=Ask).asked().says(CONFIRM)
    assert story.looks(not_found()).ends(State.CONFIRMED)
    assert story.record.asserted
    assert story.anomalies == ["contradicted"]


def test_a_word_against_the_services_own_no_is_not_carried_out():
    story = told().looks(rejected("declined"))
    assert story.state is not State.CONFIRMED
    assert story.anomalies == ["contradicted"]
    assert story.proceeds(lambda: rejected("declined"), to=Finish).move.state is State.REJECTED


def test_a_look_that_began_before_the_word_does_not_check_it():
    story = Story(NO_PROMISES).lost().proceeds(not_found, to=Ask).asked()
    story.after(hours(1)).says(CONFIRM)
    assert isinstance(story.move, Verify)


def test_the_refusal_of_a_later_attempt_is_not_held_against_a_word_about_an_earlier_one():
    story = Story(NO_PROMISES_KEYED).lost().proceeds(not_found, to=Send).attempt(Sending.REFUSED)
    story = story.proceeds(not_found, to=Ask).asked().says(CONFIRM).looks(not_found())
    assert story.ends(State.CONFIRMED)
    assert story.record.asserted
    assert story.anomalies == []
