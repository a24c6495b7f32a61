"""R15 and R17: after the verdict. What is watched, what is an anomaly, what may be undone."""

import pytest

from surestep import evidence as ev
from surestep.decision import Verdict
from surestep.evidence import Receipt, Sending, State, confirmed, not_found, unknown
from surestep.policy import Ask, Finish, may_compensate, next_watch

from .story import KEYED, NO_PROMISES, PLAIN, SETTLED, Story, but, hours, seconds

FOUND = confirmed(Receipt(id="re_1"))
PART = unknown("half", holds=["row"], missing=["event"])


def not_there() -> Story:
    """Ended not_found by proof after one lost attempt."""
    story = Story(but(PLAIN, sends=1)).lost().after(SETTLED).looks(not_found())
    return story.closes()


def abandoned() -> Story:
    story = Story(NO_PROMISES).lost().proceeds(to=Ask).asked().after(hours(1))
    return story.says(Verdict.ABANDON).looks(not_found()).closes()


ENDED = pytest.mark.parametrize("ended", [not_there, abandoned])


def watches(story: Story) -> list:
    times = []
    while (look := next_watch(story.record, story.now)) is not None and len(times) < 200:
        story.at(max(story.now, look.at)).looks(not_found())
        times.append(story.now)
    return times


@ENDED
def test_an_action_that_ended_without_an_effect_is_watched_to_the_horizon(ended):
    story = ended()
    horizon = story.now + story.record.contract.watch
    times = watches(story)
    assert times[-1] == horizon
    assert 3 < len(times) < 50


@ENDED
def test_an_effect_that_lands_after_not_found_is_an_anomaly(ended):
    story = ended().after(hours(2)).looks(FOUND)
    assert "late" in story.anomalies
    assert story.state is State.CONFIRMED


@ENDED
def test_a_notice_after_not_found_is_an_anomaly(ended):
    story = ended().after(hours(2)).notice("re_1")
    assert "late" in story.anomalies


@ENDED
def test_a_late_effect_never_reopens_the_action(ended):
    story = ended().after(hours(2)).looks(FOUND)
    assert isinstance(story.move, Finish)


def test_a_late_effect_against_a_humans_word_says_so():
    story = abandoned().after(hours(2)).looks(FOUND)
    assert set(story.anomalies) == {"late", "contradicted"}


def test_a_late_effect_is_reported_once():
    story = not_there().looks(FOUND).looks(FOUND).notice("re_1")
    assert story.anomalies == ["late"]


def test_an_effect_after_a_rejection_is_an_anomaly_too():
    story = Story().attempt(Sending.REFUSED).closes().notice("re_1")
    assert story.anomalies == ["late"]


@ENDED
@pytest.mark.parametrize("seen", [PART, confirmed(Receipt(id="re_1"), differs=["cents"])])
def test_a_part_of_the_effect_that_lands_late_is_an_anomaly(ended, seen):
    assert ended().after(hours(2)).looks(seen).anomalies


def test_misses_and_failed_lookups_after_the_end_change_no_verdict():
    story = not_there()
    story.after(hours(1)).looks(not_found()).after(hours(1)).looks(unknown("503"))
    assert story.state is State.NOT_FOUND
    assert story.anomalies == []


def test_what_never_left_is_not_watched():
    assert next_watch(Story().cancel().closes().record, Story().now) is None
    story = Story().attempt(Sending.NOT_SENT).cancel().closes()
    assert next_watch(story.record, story.now) is None


def test_what_was_confirmed_without_any_doubt_is_not_watched():
    story = Story().attempt(Sending.ANSWERED).closes()
    assert next_watch(story.record, story.now) is None


def test_an_open_action_is_not_watched():
    assert next_watch(Story().lost().record, Story().now) is None


def test_a_tool_that_cannot_look_is_not_watched():
    story = Story(but(NO_PROMISES, ask=True), sees=False).lost()
    story.says(Verdict.ABANDON).closes()
    assert next_watch(story.record, story.now) is None


def test_an_effect_confirmed_after_an_unkeyed_lost_attempt_is_watched_for_a_second_one():
    story = Story().lost().says(Verdict.RETRY, accept_duplicate=True).after(SETTLED)
    story.looks(unknown("503")).attempt(Sending.ANSWERED, receipt=Receipt(id="re_2")).closes()
    assert next_watch(story.record, story.now) is not None
    assert story.after(hours(1)).looks(FOUND).anomalies == ["duplicate"]


def test_a_watch_that_slept_through_its_look_looks_now_and_not_in_the_past_for_ever():
    story = not_there()
    due = next_watch(story.record, story.now).at
    story.at(due + hours(3)).looks(not_found())
    assert next_watch(story.record, story.now).at > story.now


def test_only_what_is_confirmed_may_be_undone():
    assert may_compensate(Story().attempt(Sending.ANSWERED).closes().record)
    for story in (Story(), Story().dispatched(), Story().lost(), not_there(), abandoned()):
        assert not may_compensate(story.record)
    assert not may_compensate(Story().attempt(Sending.REFUSED).closes().record)


def test_an_unknown_is_never_undone():
    story = Story(NO_PROMISES).lost().proceeds(to=Ask).asked()
    assert story.state is State.UNKNOWN
    assert not may_compensate(story.record)


def test_a_duplicate_is_never_undone_by_itself():
    story = Story().lost().looks(confirmed(matches=[Receipt(id="a"), Receipt(id="b")])).closes()
    assert not may_compensate(story.record)


def test_what_is_undone_stays_undone_and_is_not_undone_twice():
    story = Story().attempt(Sending.ANSWERED, receipt=Receipt(id="re_1")).closes()
    story.knows(ev.Compensated(at=story.now, receipt=Receipt(id="undo_1")))
    assert story.state is State.COMPENSATED
    assert not may_compensate(story.record)
    assert story.looks(not_found()).after(seconds(1)).looks(FOUND).state is State.COMPENSATED
    assert isinstance(story.move, Finish)


def test_the_horizon_of_the_watch_is_the_contracts():
    story = Story(but(KEYED, sends=1, watch=hours(3))).lost().after(SETTLED).looks(not_found())
    ended = story.closes().now
    assert watches(story)[-1] == ended + hours(3)
