"""What else a human can say: keep looking, leave it unknown, undo it, and what two must say."""

from datetime import timedelta

import pytest
from pydantic import ValidationError

from surestep import evidence as ev
from surestep.decision import Decision, Verdict
from surestep.evidence import Receipt, Sending, State, confirmed, not_found, unknown
from surestep.facts import AnomalyKind
from surestep.outcome import Advice, outcome_of
from surestep.policy import Ask, Escalate, Finish, Send, Verify

from .story import BLIND, NO_PROMISES, Story, hours, seconds


def asked(**options: bool) -> Story:
    return Story(NO_PROMISES, **options).lost().proceeds(not_found, to=Ask).asked()


def failing() -> ev.Verification:
    return unknown("503")


def test_keep_looking_asks_nobody_before_its_time_and_again_then():
    story = asked()
    until = story.now + hours(6)
    story.says(Verdict.KEEP_LOOKING, until=until)
    assert story.record.asked is None
    assert story.state is State.UNKNOWN
    asks = [story.now for move in story.moves(failing, 40) if isinstance(move, Ask)]
    assert asks
    assert asks[0] >= until


def test_keep_looking_goes_on_looking_and_takes_what_it_finds():
    story = asked().says(Verdict.KEEP_LOOKING)
    assert isinstance(story.proceeds(failing, to=Verify).move, Verify)
    assert isinstance(story.looks(confirmed(Receipt(id="re_1"))).move, Finish)


@pytest.mark.parametrize("late", [seconds(0), seconds(-1), hours(-48)])
def test_keep_looking_until_a_time_that_is_past_is_refused(late):
    story = asked()
    assert "not ahead" in story.ruling(Verdict.KEEP_LOOKING, until=story.now + late).why


def test_keep_looking_must_say_until_when_and_nothing_else_may():
    with pytest.raises(ValidationError, match="needs `until`"):
        Decision(verdict=Verdict.KEEP_LOOKING)
    with pytest.raises(ValidationError, match="belongs to keep_looking"):
        Decision(verdict=Verdict.RETRY, until="2027-01-01T00:00:00Z")


def test_what_is_left_unknown_ends_so_and_is_never_sent_again():
    story = asked().says(Verdict.LEAVE_UNKNOWN)
    assert story.move == Finish(State.UNKNOWN, "left unknown by ann")
    outcome = outcome_of(story.closes().record)
    assert outcome.advice is Advice.STOP
    assert "will not be known" in outcome.for_model()
    assert "Do not call it again" in outcome.for_model()


def test_what_is_left_unknown_is_watched_and_a_find_reaches_a_human():
    story = asked().says(Verdict.LEAVE_UNKNOWN).closes()
    assert story.record.watch_until == story.now + timedelta(days=1)
    story.after(hours(1)).looks(confirmed(Receipt(id="re_1")))
    assert story.state is State.CONFIRMED
    assert [one.kind for one in story.record.anomalies] == [AnomalyKind.LATE]


def test_even_a_blind_action_that_is_left_unknown_is_listened_for():
    story = Story(BLIND, sees=False).lost().proceeds(to=Ask).asked().says(Verdict.LEAVE_UNKNOWN)
    story.closes()
    assert story.record.watch_until
    story.notice("re_1")
    assert [one.kind for one in story.record.anomalies] == [AnomalyKind.LATE]


def test_leaving_it_unknown_overtakes_a_retry_that_is_not_carried_out():
    story = asked().says(Verdict.RETRY).says(Verdict.LEAVE_UNKNOWN)
    assert isinstance(story.move, Finish)
    assert story.move.state is State.UNKNOWN


def test_after_a_reset_what_was_left_unknown_is_asked_again():
    story = asked().says(Verdict.LEAVE_UNKNOWN).earlier_run()
    assert story.record.left is None


@pytest.mark.parametrize("ended", [False, True])
def test_only_what_is_confirmed_and_has_an_undo_is_undone(ended):
    story = Story(undo=True).attempt(Sending.ANSWERED)
    story = story.closes() if ended else story
    assert story.accepts == {Verdict.UNDO}
    assert story.says(Verdict.UNDO).record.undo_asked == "ann"
    assert "already" in story.ruling(Verdict.UNDO).why
    assert "no undo" in Story().attempt(Sending.ANSWERED).ruling(Verdict.UNDO).why


def test_an_unknown_action_is_not_undone():
    assert not asked(undo=True).ruling(Verdict.UNDO).taken


def test_two_effects_of_one_action_are_not_undone_by_one_undo():
    story = Story(undo=True).lost().looks(confirmed(matches=[Receipt(id="1"), Receipt(id="2")]))
    assert not story.ruling(Verdict.UNDO).taken


def test_where_two_must_agree_the_first_word_changes_nothing_and_is_shown():
    story = asked()
    version = story.record.version
    said = Decision(verdict=Verdict.CONFIRM, by="ann", id="d1", version=version)
    story.knows(ev.Decided(at=story.now, decision=said, needs_another=True))
    assert story.state is State.UNKNOWN
    assert [(one.verdict, one.by) for one in story.record.agreed] == [(Verdict.CONFIRM, "ann")]
    assert story.record.version == version, "the second must be able to answer what the first saw"
    story.says(Verdict.CONFIRM, by="bob", version=version).looks(failing())
    assert story.state is State.CONFIRMED
    assert story.record.agreed == ()


def test_an_objection_of_the_examiner_changes_nothing_and_is_recorded():
    story = asked()
    before = story.record
    said = Decision(verdict=Verdict.CONFIRM, by="mallory")
    story.knows(ev.Decided(at=story.now, decision=said, objection="the signature is not ann's"))
    assert story.state is State.UNKNOWN
    assert story.record.version == before.version
    assert "the signature is not ann's" in story.record.log[-1].text


def test_a_decision_that_has_expired_says_nothing():
    story = asked()
    ruling = story.ruling(Verdict.RETRY, expires=story.now - seconds(1))
    assert "expired" in ruling.why


def test_an_open_question_is_escalated_once_and_looking_goes_on():
    story = asked()
    kinds = [type(move) for move in story.moves(failing, 40)]
    assert kinds.count(Escalate) == 1
    assert Verify in kinds
    assert Send not in kinds
    assert story.record.overdue == story.record.asked + hours(4)
