"""R14: cancel is not undo."""

import pytest

from surestep.decision import Verdict
from surestep.evidence import Sending, State, confirmed, not_found, unknown
from surestep.policy import Ask, Finish, Send, Verify, Wait

from .story import BLIND, KEYED, NO_PROMISES, QUEUED, SETTLED, START, Story, hours


def test_cancelled_before_the_first_send_nothing_happens():
    story = Story().cancel()
    assert story.ends(State.NOT_FOUND)
    assert story.record.attempts == 0


@pytest.mark.parametrize("clean", [Sending.NOT_SENT, Sending.REFUSED_FOR_NOW])
def test_cancelled_between_attempts_that_did_nothing_nothing_happens(clean):
    assert Story().attempt(clean).cancel().ends(State.NOT_FOUND)


def test_a_cancel_does_not_cut_off_the_attempt_in_flight():
    assert Story().dispatched().cancel().move == Wait(None)


def test_a_cancel_in_flight_yields_to_the_success_and_is_recorded_as_too_late():
    story = Story().dispatched().cancel().ended(Sending.ANSWERED)
    assert story.ends(State.CONFIRMED)
    assert "too late" in story.told


@pytest.mark.parametrize("clean", [Sending.NOT_SENT, Sending.REFUSED_FOR_NOW])
def test_a_cancel_in_flight_of_an_attempt_that_did_nothing_ends_as_not_found(clean):
    assert Story().dispatched().cancel().ended(clean).ends(State.NOT_FOUND)


def test_a_cancel_in_flight_of_an_attempt_that_got_lost_is_settled_by_evidence():
    story = Story().dispatched().cancel().ended(Sending.AMBIGUOUS)
    assert story.move == Verify(story.now)
    assert story.looks(confirmed()).ends(State.CONFIRMED)


def test_a_cancelled_doubt_is_never_called_not_found_without_proof():
    story = Story(NO_PROMISES).lost().cancel()
    assert not any(isinstance(m, Finish) for m in story.moves(not_found, 100))
    assert story.state is State.UNKNOWN


def test_a_cancelled_doubt_ends_as_not_found_once_absence_is_proven():
    assert Story().lost().cancel().after(SETTLED).looks(not_found()).ends(State.NOT_FOUND)


def test_nothing_is_sent_under_the_key_after_a_cancel():
    story = Story(KEYED).lost().cancel()
    assert not any(isinstance(m, Send) for m in story.moves(lambda: unknown("503"), 60))


def test_an_accepted_operation_goes_on_to_be_polled_after_a_cancel():
    story = Story(QUEUED).attempt(Sending.ACCEPTED).cancel()
    assert isinstance(story.move, Verify)
    assert story.looks(confirmed()).ends(State.CONFIRMED)


def test_a_blind_cancelled_doubt_goes_to_a_human():
    story = Story(BLIND, sees=False).lost().cancel()
    assert isinstance(story.move, Ask)
    assert story.asked().says(Verdict.ABANDON).ends(State.NOT_FOUND)


def test_a_cancel_after_a_decided_retry_forbids_the_send():
    story = Story(NO_PROMISES).lost().proceeds(to=Ask).asked().after(hours(1))
    story.says(Verdict.RETRY).cancel().looks(not_found())
    assert not any(isinstance(m, Send) for m in story.moves(not_found, 30))


def test_a_cancel_of_a_settled_action_changes_its_verdict_no_more():
    story = Story().attempt(Sending.ANSWERED).cancel()
    assert story.ends(State.CONFIRMED)
    assert "too late" in story.told
    before = story.closes().record
    assert story.cancel().record == before


def test_a_second_cancel_says_nothing_new():
    story = Story().lost().cancel()
    before = story.record
    assert story.cancel().record == before


def test_a_cancelled_step_that_an_earlier_run_may_have_performed_is_looked_at_first():
    story = Story().after(hours(1)).earlier_run(START).cancel()
    assert isinstance(story.move, Verify)
    assert story.looks(confirmed()).ends(State.CONFIRMED)
