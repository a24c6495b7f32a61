"""R12: when a human is asked, and when again."""

from datetime import timedelta

from surestep.decision import Verdict
from surestep.evidence import Sending, State, not_found, unknown
from surestep.policy import Ask, Verify

from .story import BLIND, NO_PROMISES, PLAIN, SETTLED, Story, but, seconds

PATIENCE = NO_PROMISES.patience


def test_a_look_that_died_and_outlasted_the_patience_is_repeated_before_anybody_is_asked():
    story = Story(NO_PROMISES).lost().looks(unknown("it did not end"), took=PATIENCE + seconds(5))
    assert story.move == Verify(story.now)
    assert isinstance(story.looks(unknown("it did not end")).move, Ask)


def test_the_same_holds_for_the_look_that_was_to_prove_absence():
    story = Story(PLAIN).lost().looks(not_found()).after(SETTLED)
    story.looks(unknown("it did not end"), took=PATIENCE + seconds(5))
    assert story.move == Verify(story.now)


def test_so_is_one_that_saw_nothing_but_began_long_ago():
    story = Story(NO_PROMISES).lost().looks(not_found(), took=PATIENCE + seconds(5))
    assert story.move == Verify(story.now)
    assert isinstance(story.looks(not_found()).move, Ask)


def test_a_human_is_asked_on_the_strength_of_a_look_that_began_when_the_patience_was_over():
    story = Story(NO_PROMISES).lost()
    begun = story.now
    assert story.proceeds(to=Ask).now == begun + PATIENCE
    assert story.record.looks.count == 6
    assert story.record.looks.started == begun + PATIENCE


def test_nobody_is_asked_before_what_has_landed_must_be_visible():
    story = Story(but(NO_PROMISES, visibility_lag=timedelta(minutes=5))).lost()
    begun = story.now
    assert story.proceeds(to=Ask).now == begun + timedelta(minutes=5) + PATIENCE


def test_a_retry_that_the_service_refuses_leaves_a_new_question():
    """Of the first attempt nothing more is known than before, but what was answered was done."""
    story = Story(BLIND, sees=False).lost().asked().says(Verdict.RETRY)
    story.after(seconds(1)).attempt(Sending.REFUSED, why="422")
    assert story.record.state is State.SENT
    assert "a later one was refused: 422" in story.move.why
    assert story.asked().record.asked == story.now


def test_a_retry_that_a_cancellation_forbids_leaves_a_new_question():
    story = Story(NO_PROMISES).lost()
    story.proceeds(lambda: unknown("503"), to=Ask).asked().says(Verdict.RETRY)
    story.after(seconds(1)).cancel()
    assert "the decision to retry was not carried out" in story.record.log[-1].text
    story.proceeds(lambda: unknown("503"), to=Ask)
    assert story.asked().record.asked == story.now
