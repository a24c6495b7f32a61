"""What people say while a look, a fence or an attempt is under way."""

from surestep import evidence as ev
from surestep.decision import Verdict
from surestep.evidence import Receipt, Sending, State, not_found
from surestep.policy import Ask, Finish, Send, Verify

from .story import KEYED, PLAIN, SETTLED, Story, seconds


def test_a_look_from_before_a_confirmation_sends_nothing_over_it():
    story = Story(PLAIN).lost().after(SETTLED)
    began = story.now
    story.after(seconds(1)).says(Verdict.CONFIRM, receipt_id="re_9").after(seconds(1))
    story.knows(ev.Looked(at=story.now, started=began, verification=not_found()))
    assert isinstance(story.move, Verify)
    assert story.looks(not_found()).anomalies == ["contradicted"]
    assert story.state is not State.CONFIRMED
    assert not story.sends


def test_a_fence_that_was_under_way_sends_nothing_over_a_confirmation():
    story = Story(PLAIN, fences=True).lost().looks(not_found())
    story.says(Verdict.CONFIRM, receipt_id="re_9").fence(held=True)
    assert not isinstance(story.move, Send)
    assert story.anomalies == ["contradicted"]
    assert Verdict.CONFIRM in story.accepts


def test_a_fence_that_contradicts_a_word_without_a_lookup_is_an_anomaly():
    story = Story(PLAIN, sees=False, fences=True).lost()
    story.says(Verdict.CONFIRM, receipt_id="re_9").fence(held=True)
    assert story.anomalies == ["contradicted"]
    assert story.ends(State.CONFIRMED)


def test_a_notice_of_failure_that_contradicts_a_confirmation_sends_nothing_again():
    story = Story(KEYED).lost().looks(not_found()).lost().looks(not_found())
    story.says(Verdict.CONFIRM).notice(happened=False).after(seconds(600))
    assert story.anomalies == ["contradicted"]
    assert not story.sends


def test_nothing_is_sent_again_after_it_was_left_unknown():
    story = Story(PLAIN).lost().after(SETTLED)
    began = story.now
    story.after(seconds(1)).says(Verdict.LEAVE_UNKNOWN).after(seconds(1))
    story.knows(ev.Looked(at=story.now, started=began, verification=not_found()))
    assert isinstance(story.move, Finish)
    assert story.ends(State.NOT_FOUND)


def test_a_fence_after_it_was_left_unknown_sends_nothing():
    story = Story(PLAIN, fences=True).lost().looks(not_found())
    story.says(Verdict.LEAVE_UNKNOWN).fence(held=True)
    assert story.ends(State.NOT_FOUND)


def test_after_a_contradicting_notice_no_retry_under_the_key_is_made_over_the_word():
    story = Story(KEYED).lost().looks(not_found()).lost()
    story.says(Verdict.CONFIRM).notice(happened=False)
    story.proceeds(not_found, to=Ask)
    assert len([line for line in story.record.log if "dispatched" in line.text]) == 2


def test_an_undo_that_a_second_effect_forbids_is_not_called_under_way():
    story = Story(undo=True).attempt(Sending.ANSWERED, receipt=Receipt(id="re_1")).closes()
    story.says(Verdict.UNDO).notice("re_2")
    assert "more than one effect" in story.ruling(Verdict.UNDO).why
