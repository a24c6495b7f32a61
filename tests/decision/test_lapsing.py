"""A human's yes does not wait for ever, and a question does not stay hidden for ever."""

from surestep.decision import Verdict
from surestep.evidence import Sending, not_found
from surestep.policy import Ask, Send
from surestep.ruling import LONGEST_PATIENCE

from .story import APPROVED, PLAIN, Story, but, hours, seconds


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
