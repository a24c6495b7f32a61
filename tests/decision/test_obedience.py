"""R4 e and R13: a decision is looked at before it is obeyed, and evidence beats it."""

import pytest

from surestep.decision import Verdict
from surestep.evidence import (
    Looked,
    Receipt,
    Sending,
    State,
    confirmed,
    not_found,
    pending,
    unknown,
)
from surestep.policy import Ask, Finish, Send, Verify, Wait

from .story import BLIND, IN_FLIGHT, KEYED, NO_PROMISES, SETTLED, START, Story, but, hours, seconds

CONFIRM, RETRY, ABANDON = Verdict.CONFIRM, Verdict.RETRY, Verdict.ABANDON
FOUND = confirmed(Receipt(id="re_1"))


def asked(contract=NO_PROMISES, seen=not_found) -> Story:
    """A human is being asked; the lookup saw `seen` so far."""
    return Story(contract).lost().proceeds(seen, to=Ask).asked().after(hours(1))


@pytest.mark.parametrize("verdict", [RETRY, ABANDON])
def test_retry_and_abandon_are_preceded_by_a_fresh_look(verdict):
    story = asked().says(verdict)
    assert story.move == Verify(story.now)


def test_a_look_that_started_before_the_decision_is_not_fresh():
    story = asked()
    began = story.now
    story.after(seconds(1)).says(RETRY).after(seconds(1))
    story.knows(Looked(at=story.now, started=began, verification=not_found()))
    assert isinstance(story.move, Verify)


def test_retry_is_sent_after_a_fresh_look_that_did_not_find_it():
    assert asked().says(RETRY).looks(not_found()).sends


def test_abandon_ends_as_not_found_after_a_fresh_look_that_did_not_find_it():
    assert asked().says(ABANDON, by="ann").looks(not_found()).ends(State.NOT_FOUND)


def test_a_retry_is_not_carried_out_when_the_fresh_look_finds_it():
    story = asked().says(RETRY).looks(FOUND)
    assert story.ends(State.CONFIRMED)
    assert "not carried out" in story.told


def test_an_abandon_that_the_fresh_look_contradicts_is_an_anomaly():
    story = asked().says(ABANDON, by="ann").looks(FOUND)
    assert story.ends(State.CONFIRMED)
    assert story.anomalies == ["contradicted"]
    assert "ann" in story.anomaly.why


@pytest.mark.parametrize("verdict", [RETRY, ABANDON])
def test_a_failed_look_is_no_fresh_look(verdict):
    story = asked().says(verdict).looks(unknown("503"))
    assert not any(isinstance(m, Send | Finish) for m in story.moves(lambda: unknown("503"), 60))


def test_the_last_failed_look_before_a_retry_is_repeated_until_one_can_see():
    story = asked().says(RETRY).looks(unknown("503")).proceeds(to=Send)
    assert story.record.doubt is not None


def test_a_retry_waits_until_a_miss_could_prove_something():
    story = Story(KEYED).lost().says(RETRY)
    sent = story.now
    story.looks(not_found())
    assert not story.sends
    assert story.proceeds(not_found, to=Send).now >= sent + SETTLED


def test_a_human_may_retry_after_the_life_of_the_key_when_a_fresh_look_misses():
    story = Story(but(KEYED, in_flight=None, visibility_lag=None)).lost()
    story.proceeds(lambda: unknown("503"), to=Ask).asked().at(START + hours(72))
    assert story.says(RETRY).looks(unknown("503")).sends is False
    assert story.after(hours(1)).looks(not_found()).sends


def test_whoever_accepts_a_duplicate_goes_on_where_no_lookup_can_answer():
    story = asked(seen=lambda: unknown("503")).says(RETRY, accept_duplicate=True)
    assert isinstance(story.move, Verify)
    assert story.looks(unknown("503")).sends


def test_whoever_accepts_a_duplicate_still_does_not_repeat_what_was_found():
    story = asked().says(RETRY, accept_duplicate=True).looks(FOUND)
    assert story.ends(State.CONFIRMED)


def test_nobody_repeats_what_the_service_still_works_on():
    story = asked().says(RETRY, accept_duplicate=True)
    assert not any(isinstance(m, Send) for m in story.moves(lambda: pending("running"), 30))


def test_looks_before_a_decided_retry_go_on_with_growing_pauses():
    story = asked().says(RETRY)
    start = story.now
    looks = sum(isinstance(m, Verify) for m in story.moves(lambda: pending("running"), 102))
    assert looks == 100, "and once, people are told that it is overdue"
    assert story.now - start > hours(0.5)


def test_without_a_lookup_a_retry_is_carried_out_at_once():
    story = Story(BLIND, sees=False).lost().proceeds(to=Ask).asked()
    assert story.says(RETRY).sends


def test_without_a_lookup_an_abandon_is_carried_out_at_once_and_says_so():
    story = Story(BLIND, sees=False).lost().says(ABANDON, by="ann")
    assert story.ends(State.NOT_FOUND)
    assert "ann" in story.move.why


def test_without_a_lookup_a_decided_retry_never_overlaps_what_may_still_land():
    story = Story(but(BLIND, in_flight=IN_FLIGHT), sees=False).lost()
    story.after(IN_FLIGHT)
    assert story.says(RETRY).sends


def test_a_retry_authorises_one_attempt():
    story = asked().says(RETRY).looks(not_found()).lost()
    assert story.record.decision is None
    assert not any(isinstance(m, Send) for m in story.moves(not_found, 60))


def test_a_refused_connection_does_not_use_up_the_retry():
    story = asked().says(RETRY).looks(not_found()).attempt(Sending.NOT_SENT)
    assert story.record.decision is not None
    assert story.proceeds(not_found, to=Send).sends


def test_a_retry_that_could_not_leave_is_looked_at_again_before_the_next_try():
    story = asked().says(RETRY).looks(not_found()).attempt(Sending.NOT_SENT)
    assert story.proceeds(lambda: FOUND, to=Finish).ends(State.CONFIRMED)
    assert story.record.attempts == 2


def test_a_retry_goes_on_under_the_same_key():
    assert asked().says(RETRY).looks(not_found()).move.generation == 1


def test_absence_proven_on_the_way_to_a_retry_sends_even_beyond_the_budget():
    story = Story(but(KEYED, sends=1)).lost().says(RETRY).after(SETTLED).looks(not_found())
    assert story.sends


def test_absence_proven_on_the_way_to_an_abandon_ends_as_not_found():
    story = Story(KEYED).lost().says(ABANDON, by="ann").after(SETTLED).looks(not_found())
    assert story.ends(State.NOT_FOUND)
    assert "ann" in story.move.why


def test_an_abandon_overtakes_a_retry_that_is_not_carried_out_yet():
    story = asked().says(RETRY).says(ABANDON)
    assert story.looks(not_found()).ends(State.NOT_FOUND)


def test_an_abandon_before_anything_left_ends_at_once():
    assert Story().attempt(Sending.NOT_SENT).says(ABANDON).ends(State.NOT_FOUND)


def test_an_abandon_while_the_first_attempt_flies_only_forbids_the_next():
    story = Story().dispatched().says(ABANDON)
    assert story.move == Wait(None)
    assert story.ended(Sending.AMBIGUOUS).move == Verify(story.now)
    assert story.after(SETTLED).looks(not_found()).ends(State.NOT_FOUND)


def test_an_abandon_while_the_first_attempt_flies_yields_to_its_success():
    story = Story().dispatched().says(ABANDON).ended(Sending.ANSWERED)
    assert story.ends(State.CONFIRMED)


def test_an_abandon_that_a_response_contradicts_is_an_anomaly():
    story = Story(KEYED).lost().looks(not_found()).dispatched().says(ABANDON)
    story.ended(Sending.ANSWERED)
    assert story.ends(State.CONFIRMED)
    assert story.anomalies == ["contradicted"]


def test_a_decision_that_a_trace_contradicts_is_recorded_as_not_carried_out():
    story = asked().says(RETRY, by="ann")
    before = story.told.count("retry")
    story.looks(unknown("half", holds=["row"], missing=["event"]))
    assert not story.sends
    assert story.told.count("retry") > before


def test_a_confirmation_by_a_human_that_the_service_contradicts_is_an_anomaly():
    story = asked().says(CONFIRM).notice(happened=False)
    assert story.anomalies == ["contradicted"]


def test_a_retry_decided_after_a_refusal_is_sent_once_absence_is_proven():
    story = Story(KEYED).lost().looks(not_found()).attempt(Sending.REFUSED, why="403")
    assert story.says(RETRY, note="permission granted").proceeds(not_found, to=Send).sends


def test_a_notice_settles_the_action_before_a_decision_is_carried_out():
    story = asked().says(ABANDON).notice("re_1")
    assert story.ends(State.CONFIRMED)
    assert story.anomalies == ["contradicted"]
