"""R6, R9 and the timing of looks: a miss proves nothing before it has earned it."""

from itertools import pairwise

import pytest

from surestep.evidence import Sending, State, not_found, pending, unknown
from surestep.policy import Ask, Finish, Send, Verify

from .story import (
    IN_FLIGHT,
    KEYED,
    LAG,
    LOST,
    NO_PROMISES,
    PLAIN,
    QUEUED,
    SETTLED,
    START,
    Story,
    but,
    hours,
    seconds,
)

MOMENT = seconds(0.001)
THREE_MISSES = but(PLAIN, misses=3)


def test_a_miss_before_in_flight_plus_lag_proves_nothing():
    story = Story().lost().after(SETTLED - MOMENT).looks(not_found())
    assert story.record.doubt is not None
    assert not story.sends


def test_a_miss_from_in_flight_plus_lag_on_proves_absence():
    story = Story().lost().after(SETTLED).looks(not_found())
    assert story.record.doubt is None
    assert story.record.absent


def test_a_lookup_counts_from_its_start_not_from_its_answer():
    story = Story().lost().after(SETTLED - seconds(1)).looks(not_found(), took=seconds(60))
    assert story.record.doubt is not None


def test_the_wait_counts_from_the_latest_instant_at_which_the_attempt_can_have_left():
    story = Story().attempt(LOST, took=seconds(100))
    assert not story.at(START + SETTLED).looks(not_found()).record.absent
    assert story.at(START + SETTLED + seconds(100)).looks(not_found()).record.absent


def test_the_wait_counts_from_the_latest_of_all_ambiguous_attempts():
    story = Story(KEYED).lost().after(SETTLED).lost().after(SETTLED - MOMENT)
    assert not story.looks(not_found()).record.absent


@pytest.mark.parametrize("unpromised", ["in_flight", "visibility_lag"])
def test_without_both_promises_no_number_of_misses_proves_absence(unpromised):
    story = Story(but(PLAIN, **{unpromised: None})).lost()
    for _ in range(50):
        story.after(hours(24)).looks(not_found())
    assert story.record.doubt is not None
    assert not story.sends


def test_a_naive_lookup_that_maps_404_to_not_found_is_harmless():
    story = Story(NO_PROMISES).lost().looks(not_found())
    assert not any(isinstance(move, Send | Finish) for move in story.moves(not_found, 100))
    assert story.state is State.UNKNOWN


def test_a_strong_read_needs_no_lag_but_still_waits_for_what_is_in_flight():
    story = Story(but(PLAIN, visibility_lag=seconds(0))).lost()
    assert not story.after(IN_FLIGHT - MOMENT).looks(not_found()).record.absent
    assert story.after(MOMENT).looks(not_found()).record.absent


def test_as_many_misses_in_a_row_are_needed_as_the_contract_asks():
    story = Story(THREE_MISSES).lost().after(SETTLED).looks(not_found())
    assert not story.after(seconds(1)).looks(not_found()).record.absent
    assert story.after(seconds(1)).looks(not_found()).record.absent


def test_a_miss_that_came_too_early_does_not_count_among_the_needed_ones():
    story = Story(THREE_MISSES).lost().looks(not_found()).looks(not_found()).after(SETTLED)
    assert not story.looks(not_found()).looks(not_found()).record.absent


def test_a_failed_lookup_between_two_misses_breaks_the_row():
    story = Story(but(PLAIN, misses=2)).lost().after(SETTLED).looks(not_found())
    story.after(seconds(1)).looks(unknown("503")).after(seconds(2)).looks(not_found())
    assert not story.record.absent


def test_a_sign_of_life_between_two_misses_ends_the_proof_for_good():
    story = Story(but(PLAIN, misses=2)).lost().after(SETTLED).looks(not_found())
    story.looks(pending("processing"))
    assert not story.looks(not_found()).looks(not_found()).record.absent


def test_a_new_attempt_starts_the_count_of_misses_afresh():
    story = Story(but(KEYED, misses=2)).lost().after(SETTLED).looks(not_found()).lost()
    assert not story.after(SETTLED).looks(not_found()).record.absent


def test_a_failed_lookup_is_not_a_miss():
    story = Story().lost().after(SETTLED)
    for _ in range(50):
        story.after(seconds(60)).looks(unknown("401"))
    assert story.record.doubt is not None
    assert not story.sends


def test_a_failed_lookup_spends_a_look_and_no_send():
    story = Story(KEYED).lost()
    spent = story.record.spent
    for _ in range(5):
        story.looks(unknown("timeout"))
    assert story.record.spent == spent
    assert story.record.looks.total == 5


def test_a_failed_lookup_never_ends_the_action():
    story = Story().lost()
    assert not any(isinstance(m, Finish | Send) for m in story.moves(lambda: unknown("500"), 200))


def test_what_the_service_accepted_is_never_proven_absent():
    story = Story(QUEUED).attempt(Sending.ANSWERED).after(hours(48))
    for _ in range(10):
        story.after(hours(1)).looks(not_found())
    assert not story.sends
    assert not story.record.absent


def test_the_first_look_is_at_once():
    story = Story().lost()
    assert story.move == Verify(story.now)


def test_looks_go_on_with_growing_pauses_up_to_a_limit():
    story, looked = Story(NO_PROMISES).lost(), []
    for move in story.moves(not_found, 40):
        if isinstance(move, Verify):
            looked.append(story.now)
    pauses = [later - earlier for earlier, later in pairwise(looked)]
    # Once a person is asked, each is up to a quarter longer than it need be: test_spreading.
    assert all(1.25 * later >= earlier for earlier, later in pairwise(pauses))
    assert pauses[:5] == [seconds(1), seconds(2), seconds(4), seconds(8), seconds(15)]
    assert pauses[0] == seconds(1)
    assert seconds(60) <= pauses[-1] <= 1.25 * hours(24)


def test_a_look_is_made_right_when_a_miss_begins_to_prove_something():
    story = Story().lost()
    settled = story.now + SETTLED
    looks = [story.now for move in story.moves(not_found, 60) if isinstance(move, Verify)]
    assert settled in looks


def test_a_slow_look_across_the_instant_of_proof_is_repeated_without_delay():
    story = Story().lost().after(SETTLED - seconds(1)).looks(not_found(), took=seconds(20))
    assert story.move == Verify(story.now)


def test_the_promised_case_needs_no_human():
    story = Story(but(PLAIN, sends=1)).lost()
    moves = [type(move) for move in story.moves(not_found)]
    assert Ask not in moves
    assert moves[-1] is Finish
    assert story.ends(State.NOT_FOUND)


def test_an_outage_of_the_lookup_beyond_the_lag_still_proves_nothing():
    story = Story(but(PLAIN, visibility_lag=None)).lost().proceeds(not_found, to=Ask)
    assert story.asked().state is State.UNKNOWN


@pytest.mark.parametrize("wait", [seconds(0), LAG, IN_FLIGHT])
def test_absence_found_too_early_is_not_reported_as_not_found(wait):
    story = Story(but(PLAIN, sends=1)).lost().after(wait).looks(not_found())
    assert not story.ends(State.NOT_FOUND)
