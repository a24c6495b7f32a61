"""R7, R8, R11: what confirms, what only resembles a confirmation, and what is still under way."""

import pytest

from surestep.decision import Verdict
from surestep.evidence import (
    Finding,
    Receipt,
    Sending,
    State,
    confirmed,
    not_found,
    pending,
    rejected,
    unknown,
)
from surestep.policy import Ask, Finish, Send, Verify, Wait

from .story import KEYED, NO_PROMISES, QUEUED, SETTLED, Story, but, hours, seconds

ONE, TWO = Receipt(id="re_1"), Receipt(id="re_2")


def test_a_success_answer_confirms_where_the_contract_says_so():
    story = Story().attempt(Sending.ANSWERED, receipt=ONE)
    assert story.ends(State.CONFIRMED)
    assert story.record.confirmation == ONE


def test_a_success_answer_without_any_content_confirms_too():
    assert Story().attempt(Sending.ANSWERED).ends(State.CONFIRMED)


def test_200_is_not_confirmed_unless_the_contract_says_so():
    story = Story(QUEUED).attempt(Sending.ANSWERED, receipt=ONE)
    assert story.state is State.ACCEPTED
    assert isinstance(story.move, Verify)


def test_202_is_accepted_even_where_a_success_answer_would_prove():
    assert Story().attempt(Sending.ACCEPTED, receipt=ONE).state is State.ACCEPTED


def test_one_hit_confirms_and_the_agent_gets_what_was_found():
    story = Story().lost().looks(confirmed(Receipt(id="re_1", status="succeeded")))
    assert story.ends(State.CONFIRMED)
    assert story.record.confirmation == Receipt(id="re_1", status="succeeded")


def test_one_hit_among_many_misses_is_enough():
    story = Story().lost().looks(not_found()).looks(not_found()).looks(confirmed(ONE))
    assert story.ends(State.CONFIRMED)


def test_a_miss_after_a_hit_never_takes_the_confirmation_back():
    story = Story().lost().looks(confirmed(ONE)).after(SETTLED).looks(not_found())
    assert story.ends(State.CONFIRMED)
    assert story.closes().after(hours(1)).looks(not_found()).state is State.CONFIRMED


def test_a_hit_after_a_human_was_asked_settles_the_action_without_the_human():
    story = Story().lost().proceeds(lambda: unknown("503"), to=Ask).asked()
    assert story.looks(confirmed(ONE)).ends(State.CONFIRMED)


def test_a_notice_confirms_while_the_attempt_is_still_in_flight():
    story = Story().dispatched().notice("re_1")
    assert story.state is State.CONFIRMED
    assert story.move == Wait(None)
    assert story.ended(Sending.AMBIGUOUS).ends(State.CONFIRMED)


def test_a_notice_settles_what_no_lookup_could():
    story = Story(sees=False).lost().proceeds(to=Ask).asked().notice("re_1")
    assert story.ends(State.CONFIRMED)


def test_a_second_equal_notice_is_no_second_effect():
    story = Story().lost().notice("re_1").notice("re_1").notice("re_1")
    assert story.anomalies == []


def test_a_human_confirms_and_the_record_says_on_whose_word():
    story = Story().lost().asked_and_told(Verdict.CONFIRM, receipt_id="re_9", by="ann")
    assert isinstance(story.move, Verify), "what can be checked is checked"
    story.looks(unknown("503"))
    assert story.ends(State.CONFIRMED)
    assert story.record.confirmation.status == "asserted by ann"
    assert story.record.confirmation.id == "re_9"
    assert "ann" in story.record.confirmed_by


def test_a_hit_beats_a_refusal_of_a_later_attempt():
    story = Story(KEYED).lost().looks(not_found()).attempt(Sending.REFUSED)
    assert story.looks(confirmed(ONE)).ends(State.CONFIRMED)


def test_a_confirmation_with_an_empty_list_of_matches_confirms_nothing():
    try:
        seen = confirmed(matches=[])
    except ValueError:
        return
    assert seen.finding is not Finding.CONFIRMED


def test_two_matches_confirm_with_a_duplicate_anomaly():
    story = Story().lost().looks(confirmed(matches=[ONE, TWO]))
    assert story.ends(State.CONFIRMED)
    assert story.anomalies == ["duplicate"]
    assert "re_1" in story.anomaly.why
    assert "re_2" in story.anomaly.why


def test_two_matches_without_ids_are_two_all_the_same():
    story = Story().lost().looks(confirmed(matches=[Receipt(), Receipt()]))
    assert story.anomalies == ["duplicate"]


def test_the_same_duplicate_is_reported_once():
    story = Story().lost()
    for _ in range(5):
        story.looks(confirmed(matches=[ONE, TWO]))
    assert story.anomalies == ["duplicate"]


def test_a_second_effect_that_shows_after_the_end_is_a_duplicate():
    story = Story().lost().looks(confirmed(ONE)).closes().after(hours(1)).looks(confirmed(TWO))
    assert story.anomalies == ["duplicate"]
    assert story.state is State.CONFIRMED


def test_a_response_that_names_another_effect_than_the_notice_is_a_duplicate():
    story = Story().lost().after(SETTLED).looks(not_found())
    story.dispatched().notice("re_1").ended(Sending.ANSWERED, receipt=TWO)
    assert story.ends(State.CONFIRMED)
    assert story.anomalies == ["duplicate"]


def test_a_response_that_names_the_effect_of_the_notice_is_no_duplicate():
    story = Story().dispatched().notice("re_1").ended(Sending.ANSWERED, receipt=ONE)
    assert story.anomalies == []


def test_a_flood_of_notices_with_new_ids_keeps_the_record_small():
    story = Story().lost()
    for number in range(500):
        story.notice(f"evt_{number}")
    assert len(story.record.anomalies) < 100


def test_a_match_with_other_content_asks():
    story = Story().lost().looks(confirmed(ONE, differs=["cents: 2500, found 9900"]))
    assert isinstance(story.move, Ask)
    assert "9900" in story.move.why
    assert story.asked().state is State.UNKNOWN


def test_a_match_with_other_content_is_never_sent_again_by_itself():
    story = Story(KEYED).lost().looks(confirmed(ONE, differs=["cents"])).after(SETTLED)
    assert not any(isinstance(m, Send | Finish) for m in story.moves(not_found, 60))


def test_a_part_of_the_effect_asks_with_what_holds_and_what_does_not():
    story = Story(KEYED).lost().looks(unknown("half", holds=["row"], missing=["event"]))
    assert isinstance(story.move, Ask)
    assert "row" in story.move.why
    assert "event" in story.move.why


def test_a_part_of_the_effect_is_never_proven_absent_later():
    story = Story().lost().looks(unknown("half", holds=["row"], missing=["event"]))
    story.after(SETTLED).looks(not_found()).after(hours(1)).looks(not_found())
    assert not story.record.absent
    assert not story.sends


def test_the_rest_of_the_effect_may_follow_and_then_it_is_confirmed():
    story = Story().lost().looks(unknown("half", holds=["row"], missing=["event"]))
    assert story.asked().looks(confirmed(ONE)).ends(State.CONFIRMED)


def test_a_lookup_of_which_no_part_holds_is_only_a_failed_one():
    story = Story(KEYED).lost().looks(unknown("nothing yet", missing=["row", "event"]))
    assert story.record.trace is None


def refused_by_lookup(story):
    return story.looks(rejected("declined"))


def refused_by_notice(story):
    return story.notice("re_1", happened=False)


NO = pytest.mark.parametrize("service_says_no", [refused_by_lookup, refused_by_notice])


@NO
def test_the_services_own_no_ends_the_only_attempt_as_rejected(service_says_no):
    assert service_says_no(Story().lost()).ends(State.REJECTED)


@NO
def test_the_services_own_no_ends_what_it_had_accepted(service_says_no):
    assert service_says_no(Story(QUEUED).attempt(Sending.ANSWERED)).ends(State.REJECTED)


@NO
def test_the_services_own_no_to_one_of_two_unkeyed_attempts_leaves_the_other_in_doubt(
    service_says_no,
):
    story = service_says_no(Story().lost().lost())
    assert story.record.doubt is not None
    assert not story.ends(State.REJECTED)
    assert not story.sends


def test_the_services_own_no_to_one_of_two_unkeyed_attempts_is_not_an_acceptance():
    story = Story().lost().lost().looks(rejected("declined"))
    assert story.state is not State.ACCEPTED


@NO
def test_the_services_own_no_does_not_erase_a_part_that_was_seen(service_says_no):
    story = Story(KEYED).lost().looks(unknown("half", holds=["row"], missing=["event"]))
    assert not service_says_no(story).ends(State.REJECTED)


def test_a_notice_of_failure_while_the_second_attempt_flies_does_not_clear_the_first():
    story = Story(NO_PROMISES).lost().asked_and_told(Verdict.RETRY, accept_duplicate=True)
    story.proceeds(to=Send).dispatched().notice(happened=False)
    assert not story.ended(Sending.REFUSED).ends(State.REJECTED)


def test_a_notice_of_failure_does_not_take_a_confirmation_back():
    story = Story().attempt(Sending.ANSWERED, receipt=ONE).notice("re_1", happened=False)
    assert story.ends(State.CONFIRMED)
    assert "failed" in story.told


@pytest.mark.parametrize("contract", [QUEUED, but(KEYED, response_proves=False)])
def test_202_is_polled_and_never_created_anew(contract):
    story = Story(contract).attempt(Sending.ACCEPTED, receipt=Receipt(id="op-7"))
    moves = list(story.moves(lambda: pending("running"), 200))
    assert not any(isinstance(move, Send) for move in moves)
    assert sum(isinstance(move, Verify) for move in moves) > 50


def test_an_accepted_operation_is_settled_by_a_lookup():
    story = Story(QUEUED).attempt(Sending.ACCEPTED).looks(pending("running"))
    assert story.after(seconds(90)).looks(confirmed(ONE)).ends(State.CONFIRMED)


def test_an_accepted_operation_that_cannot_be_looked_up_waits_for_a_notice():
    story = Story(QUEUED, sees=False).attempt(Sending.ACCEPTED)
    assert isinstance(story.move, Wait)
    assert story.notice("re_1").ends(State.CONFIRMED)


def test_an_accepted_operation_is_not_looked_at_before_the_service_asks():
    story = Story(QUEUED).attempt(Sending.ACCEPTED, retry_after=30.0)
    assert story.move == Verify(story.now + seconds(30))


def test_an_accepted_operation_that_takes_too_long_is_put_to_a_human_and_still_polled():
    story = Story(but(QUEUED, completes_within=hours(2))).attempt(Sending.ACCEPTED)
    accepted = story.now
    story.proceeds(lambda: pending("running"), to=Ask)
    assert story.now == accepted + hours(2)
    assert isinstance(story.asked().move, Verify)


def test_an_operation_that_the_service_has_purged_is_neither_absent_nor_confirmed():
    story = Story(QUEUED).attempt(Sending.ACCEPTED).after(hours(0.5)).looks(not_found())
    assert story.state is State.ACCEPTED
    assert not story.sends


def test_a_lost_attempt_that_a_lookup_finds_in_progress_is_accepted():
    story = Story(KEYED).lost().looks(pending("processing"))
    assert story.state is State.ACCEPTED
    assert not any(isinstance(m, Send) for m in story.moves(lambda: pending("processing"), 60))
