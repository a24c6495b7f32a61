"""The record itself: pure, bounded, readable, and a version that only grows with news."""

import pytest
from pydantic import ValidationError

from surestep.decision import Verdict
from surestep.evidence import Looked, Sending, confirmed, not_found, pending, unknown
from surestep.policy import Ask, next_move
from surestep.record import Record

from .story import KEYED, NO_PROMISES, PLAIN, QUEUED, Story, but, hours, seconds


def asked(seen=not_found) -> Story:
    return Story(NO_PROMISES).lost().proceeds(seen, to=Ask).asked()


def test_adding_evidence_leaves_the_old_record_as_it_was():
    story = Story().lost()
    before, copy = story.record, story.record.model_copy(deep=True)
    story.looks(confirmed())
    assert before == copy


def test_a_record_cannot_be_changed_in_place():
    with pytest.raises(ValidationError):
        Story().record.attempts = 7


def test_the_same_evidence_makes_the_same_record():
    record = Story().lost().record
    seen = Looked(at=record.ended, started=record.ended, verification=not_found())
    assert record.with_evidence(seen) == record.with_evidence(seen)


@pytest.mark.parametrize("seen", [not_found(), unknown("503"), pending("running")])
def test_equal_looks_do_not_make_a_humans_view_stale(seen):
    story = asked(lambda: seen) if seen.finding != "pending" else asked().looks(seen)
    version = story.record.version
    for _ in range(100):
        story.after(hours(1)).looks(seen)
    assert story.record.version == version
    assert story.ruling(Verdict.CONFIRM, version=version).taken


def test_looks_that_take_turns_in_failing_do_not_make_a_humans_view_stale():
    story = asked().looks(unknown("503")).looks(not_found())
    version = story.record.version
    for _ in range(100):
        story.looks(unknown("503")).looks(not_found())
    assert story.record.version == version


def test_news_makes_a_humans_view_stale():
    story = asked()
    version = story.record.version
    story.looks(unknown("half", holds=["row"], missing=["event"]))
    assert story.record.version > version


@pytest.mark.parametrize("verdict", Verdict)
def test_a_refused_decision_does_not_make_a_humans_view_stale(verdict):
    story = asked()
    version = story.record.version
    assert story.says(verdict, version=version - 1).record.version == version


def test_a_taken_decision_makes_the_view_stale_that_it_answered():
    story = asked()
    version = story.record.version
    assert story.says(Verdict.RETRY, version=version).record.version > version


def test_a_proof_of_absence_is_news():
    story = Story().lost().looks(not_found())
    version = story.record.version
    assert story.after(hours(1)).looks(not_found()).record.version > version


def test_a_connection_refused_all_week_is_one_piece_of_news():
    story = Story().attempt(Sending.NOT_SENT, why="connection refused")
    for _ in range(300):
        story.after(hours(1)).attempt(Sending.NOT_SENT, why="connection refused")
    assert len(story.record.log) <= 100


def test_the_log_keeps_its_beginning_and_its_latest_lines():
    story = Story().lost()
    for number in range(1000):
        story.after(seconds(1)).looks(unknown(f"error {number}"))
    assert len(story.record.log) <= 100
    assert story.told.startswith("planned")
    assert "attempt 1 is ambiguous" in story.told
    assert "error 999" in story.told


def test_equal_lines_in_a_row_are_counted_with_their_last_time():
    story = Story().lost()
    for _ in range(5):
        story.after(seconds(1)).looks(not_found())
    line = story.record.log[-1]
    assert (line.count, line.until) == (5, story.now)


def test_the_record_stays_small_however_long_it_waits():
    story = asked()
    for _ in range(1000):
        story.after(hours(1)).looks(not_found()).says(Verdict.RETRY, version=0)
    assert len(story.record.model_dump_json()) < 20_000


def test_a_story_is_told_in_the_order_in_which_it_happened():
    story = Story(KEYED).attempt(Sending.NOT_SENT, why="dns").attempt(Sending.AMBIGUOUS)
    story.looks(confirmed())
    lines = [line.text for line in story.record.log]
    assert [
        word in line
        for word, line in zip(
            ["planned", "attempt 1", "not sent", "attempt 2", "ambiguous", "found it"],
            lines,
            strict=True,
        )
    ] == [True] * 6


@pytest.mark.parametrize(
    ("story", "word"),
    [
        (Story(NO_PROMISES, sees=False).lost(), "no lookup"),
        (Story(but(PLAIN, sends=1)).lost().looks(unknown("401 from the ledger")), "401"),
        (Story(QUEUED).attempt(Sending.ACCEPTED), "accepted"),
        (Story().lost().looks(unknown("", holds=["row"], missing=["event"])), "event"),
    ],
)
def test_the_question_says_why_the_truth_is_not_known(story, word):
    story.proceeds(lambda: unknown("401 from the ledger"), to=Ask)
    assert word in story.move.why
    assert word in story.asked().record.asked_why


def test_a_human_is_asked_once():
    story = asked()
    asks = sum(isinstance(move, Ask) for move in story.moves(not_found, 100))
    assert asks == 0


def test_a_new_lost_attempt_after_an_answer_is_a_new_question():
    story = asked().says(Verdict.RETRY).after(hours(1)).looks(not_found()).lost()
    assert isinstance(story.proceeds(not_found, to=Ask).move, Ask)


def test_nobody_is_asked_before_patience_is_over():
    story = Story(but(NO_PROMISES, patience=hours(2))).lost()
    lost = story.now
    assert story.proceeds(not_found, to=Ask).now == lost + hours(2)


def test_a_deploy_that_changes_the_contract_does_not_change_an_action_in_flight():
    story = Story(KEYED).lost().looks(unknown("503")).after(seconds(10))
    revived = Record.model_validate_json(story.record.model_dump_json())
    assert revived.contract == KEYED
    assert next_move(revived, story.now) == story.move


def test_nobody_answers_for_a_month_and_nothing_is_decided_for_them():
    story = asked()
    for _ in range(30):
        story.after(hours(24)).looks(not_found())
    assert story.state == "unknown"
    assert story.ruling(Verdict.RETRY).taken
