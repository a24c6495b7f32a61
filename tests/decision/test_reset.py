"""§5, R2, R4: a run that is not the first and has no record starts with an ambiguous attempt."""

import pytest

from surestep.evidence import Receipt, Sending, State, confirmed, not_found, pending, unknown
from surestep.policy import Ask, Send, Verify, Wait

from .story import (
    BLIND,
    IN_FLIGHT,
    KEYED,
    LIFETIME,
    NO_PROMISES,
    READ,
    SETTLED,
    START,
    Story,
    hours,
    seconds,
)


def after_reset(contract, *, gone=hours(1), since=START, **sight) -> Story:
    return Story(contract, **sight).after(gone).earlier_run(since)


def test_after_a_reset_nothing_is_sent_before_a_look():
    story = after_reset(KEYED)
    assert story.move == Verify(story.now)


def test_after_a_reset_what_the_earlier_run_did_is_found():
    story = after_reset(NO_PROMISES).looks(confirmed(Receipt(id="re_1")))
    assert story.ends(State.CONFIRMED)


def test_after_a_reset_a_look_at_once_proves_nothing():
    story = after_reset(KEYED).looks(not_found())
    assert not story.record.absent
    assert not story.after(SETTLED).looks(not_found()).record.absent, "an attempt may go on"
    assert story.after(KEYED.timeout).looks(not_found()).record.absent


def test_after_a_reset_a_living_key_is_used_again():
    story = after_reset(KEYED).looks(unknown("503")).proceeds(lambda: unknown("503"), to=Send)
    assert story.move.generation == 1


def test_after_a_reset_the_key_is_as_old_as_the_first_run():
    story = after_reset(KEYED, gone=LIFETIME - IN_FLIGHT - seconds(80)).looks(unknown("503"))
    assert not any(isinstance(m, Send) for m in story.moves(lambda: unknown("503"), 60))


def test_after_a_reset_of_unknown_age_the_key_counts_as_dead():
    story = after_reset(KEYED, gone=seconds(1), since=None).looks(unknown("503"))
    assert not any(isinstance(m, Send) for m in story.moves(lambda: unknown("503"), 60))
    assert story.state is State.UNKNOWN


def test_after_a_reset_a_blind_action_goes_to_a_human():
    story = after_reset(BLIND, sees=False)
    assert isinstance(story.move, Wait), "an attempt of the run before may go on"
    assert isinstance(story.after(BLIND.timeout).move, Ask)


def test_after_a_reset_a_clean_failure_does_not_erase_the_earlier_run():
    story = after_reset(KEYED).looks(not_found()).proceeds(not_found, to=Send)
    assert story.attempt(Sending.REFUSED).record.doubt is not None


def test_two_resets_reach_back_to_the_first_run():
    story = after_reset(KEYED).after(hours(1)).earlier_run(START + hours(1))
    assert story.record.key_since == START
    assert story.record.doubt.since == START
    assert story.record.doubt.latest == story.now + KEYED.timeout


def test_a_reset_of_known_age_does_not_revive_a_key_that_counts_as_dead():
    story = after_reset(KEYED, since=None).earlier_run(START).looks(unknown("503"))
    assert not any(isinstance(m, Send) for m in story.moves(lambda: unknown("503"), 60))


def test_a_settled_action_is_not_put_in_doubt_by_an_earlier_run():
    story = Story().attempt(Sending.ANSWERED)
    before = story.record
    assert story.earlier_run(START).record == before


def test_after_a_reset_a_read_is_simply_read_again():
    assert after_reset(READ, sees=False).proceeds(to=Send).sends


TRACE = confirmed(Receipt(id="re_1"), differs=["cents"])


@pytest.mark.parametrize("seen", [pending("running"), TRACE])
def test_a_look_before_the_first_send_that_finds_something_forbids_the_send(seen):
    story = Story(NO_PROMISES).dispatched().ended(Sending.NOT_SENT).looks(seen)
    assert not any(isinstance(m, Send) for m in story.moves(lambda: seen, 60))


@pytest.mark.parametrize("seen", [pending("running"), TRACE])
def test_what_was_seen_inside_the_attempt_is_not_forgotten_when_it_ends_unsent(seen):
    story = Story(NO_PROMISES).dispatched().looks(seen).ended(Sending.NOT_SENT)
    assert not any(isinstance(m, Send) for m in story.moves(lambda: seen, 60))


@pytest.mark.parametrize("order", ["look first", "end first"])
def test_a_look_before_the_first_send_that_finds_the_effect_confirms(order):
    story = Story(NO_PROMISES).dispatched()
    if order == "look first":
        story.looks(confirmed()).ended(Sending.NOT_SENT)
    else:
        story.ended(Sending.NOT_SENT).looks(confirmed())
    assert story.ends(State.CONFIRMED)
