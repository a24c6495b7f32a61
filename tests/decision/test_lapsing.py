"""A human's yes does not wait for ever, and a question does not stay hidden for ever."""

import pytest

from surestep import evidence as ev
from surestep.decision import Verdict
from surestep.evidence import Receipt, Sending, State, confirmed, not_found, unknown
from surestep.policy import Ask, Escalate, Finish, Lapse, Send, Verify, Wait
from surestep.ruling import LONGEST_PATIENCE

from .story import APPROVED, NO_PROMISES, PLAIN, Story, but, hours, seconds


def test_a_retry_that_waited_too_long_for_the_service_is_asked_for_again():
    """A lookup that is down for a day, where nothing is sent without somebody's yes."""
    story = Story(but(APPROVED, in_flight=None)).asked().approved().lost()
    story.asked_and_told(Verdict.RETRY)
    assert story.after(hours(25)).looks(not_found()).sends is False
    assert isinstance(story.move, Ask)
    assert "too long ago" in story.asked().record.asked_why
    assert Verdict.RETRY in story.accepts
    story.says(Verdict.RETRY).after(seconds(1)).looks(not_found())
    assert isinstance(story.move, Send)


def test_a_retry_that_is_refused_for_long_is_asked_for_again():
    story = Story(but(APPROVED, in_flight=None)).asked().approved().lost()
    story.asked_and_told(Verdict.RETRY).after(seconds(10)).looks(not_found())
    story.attempt(Sending.NOT_SENT).after(hours(2)).looks(not_found())
    assert isinstance(story.move, Ask)


def test_a_retry_without_an_approval_rule_waits_as_long_as_it_takes():
    story = Story(but(PLAIN, in_flight=None)).lost().asked_and_told(Verdict.RETRY)
    assert story.after(hours(99)).looks(not_found()).sends


def test_no_question_is_put_off_for_ever():
    story = Story().lost().looks(not_found())
    far = story.now + LONGEST_PATIENCE
    assert story.ruling(Verdict.KEEP_LOOKING, until=far).taken
    refused = story.ruling(Verdict.KEEP_LOOKING, until=far + seconds(1))
    assert not refused.taken
    assert "366 days" in refused.why


def taken(verdict: Verdict, contract=NO_PROMISES) -> Story:
    """A decision that holds for an hour, and waits for its look."""
    story = Story(contract).lost().proceeds(lambda: unknown("503"), to=Ask).asked()
    story.says(verdict, expires=story.now + hours(1))
    assert isinstance(story.move, Verify)
    return story


@pytest.mark.parametrize("verdict", [Verdict.RETRY, Verdict.ABANDON])
def test_a_decision_that_expires_while_it_waits_for_its_look_is_not_obeyed(verdict):
    story = taken(verdict).after(hours(2)).looks(not_found())
    assert isinstance(story.move, Lapse)
    story.proceeds(lambda: unknown("503"), to=Ask).asked()
    assert (story.record.decision, story.state) == (None, State.UNKNOWN)
    assert "was not carried out: it expired" in story.told
    assert verdict in story.accepts


@pytest.mark.parametrize("verdict", [Verdict.RETRY, Verdict.ABANDON, Verdict.CONFIRM])
def test_a_decision_is_obeyed_up_to_its_expiry(verdict):
    story = taken(verdict).after(seconds(3599)).looks(not_found())
    assert isinstance(story.move, Send if verdict is Verdict.RETRY else Finish)


@pytest.mark.parametrize("seen", [unknown("503"), not_found()])
def test_a_word_that_expired_before_its_look_confirms_nothing(seen):
    story = taken(Verdict.CONFIRM).after(hours(1)).looks(seen)
    assert story.record.confirmation is None
    assert isinstance(story.move, Lapse)
    story.proceeds(lambda: unknown("503"), to=Ask).asked()
    assert story.state is State.UNKNOWN
    assert story.anomalies == []


def test_a_word_that_expired_is_still_contradicted_and_nothing_is_sent_over_it():
    story = taken(Verdict.CONFIRM, PLAIN).after(hours(1)).looks(not_found())
    assert story.anomalies == ["contradicted"]
    assert isinstance(story.move, Ask)


def test_what_the_look_finds_counts_however_late_the_decision_is():
    story = taken(Verdict.RETRY).after(hours(2)).looks(confirmed(Receipt(id="re_1")))
    assert story.ends(State.CONFIRMED)


def test_a_retry_that_the_service_refuses_is_not_tried_again_after_its_expiry():
    story = taken(Verdict.RETRY).after(seconds(10)).looks(not_found())
    story.attempt(Sending.NOT_SENT).after(hours(2))
    assert isinstance(story.move, Lapse)


def test_an_approval_that_expires_before_it_is_sent_is_asked_for_again():
    story = Story(APPROVED).asked()
    story.approved(expires=story.now + seconds(60)).attempt(Sending.NOT_SENT)
    assert story.after(seconds(30)).sends
    assert isinstance(story.after(seconds(30)).move, Ask)
    assert Verdict.APPROVE in story.asked().accepts


def test_nobody_waits_for_the_next_look_longer_than_the_decision_holds():
    story = taken(Verdict.RETRY).after(seconds(1)).looks(unknown("503"))
    expires = story.record.decision.expires
    story.at(expires - seconds(1)).looks(unknown("503"))
    assert story.move == Wait(expires)
    assert isinstance(story.at(expires).move, Lapse)


def test_what_is_decided_and_cannot_be_carried_out_becomes_overdue_once():
    """A retry that waits for a lookup that is down for a day; somebody must hear of it."""
    story = Story(NO_PROMISES).lost().proceeds(lambda: unknown("503"), to=Ask).asked()
    story.proceeds(lambda: unknown("503"), to=Escalate).knows(ev.Escalated(at=story.now))
    decided = story.says(Verdict.RETRY).now
    assert story.record.overdue is None
    kinds = [type(move) for move in story.moves(lambda: unknown("503"), 60)]
    assert kinds.count(Escalate) == 1
    assert Send not in kinds
    assert story.record.overdue == decided + hours(4)
    assert "overdue: what was decided is not carried out" in story.told
