"""R1 to R5, R10, R18: when an attempt may leave, and under which key."""

import pytest

from surestep.contract import Effect, KeySupport
from surestep.errors import ContractError
from surestep.evidence import Receipt, Sending, State, not_found, unknown
from surestep.policy import Send, Verify, Wait

from .story import (
    BLIND,
    IN_FLIGHT,
    KEYED,
    LIFETIME,
    NO_PROMISES,
    PLAIN,
    QUEUED,
    READ,
    REMEMBERS_FAILURES,
    SETTLED,
    START,
    Story,
    but,
    hours,
    seconds,
)

KEYED_BLIND = but(KEYED, visibility_lag=None)


@pytest.mark.parametrize("contract", [PLAIN, KEYED, NO_PROMISES, BLIND, QUEUED, READ])
def test_an_action_that_was_never_sent_is_sent(contract):
    move = Story(contract).move
    assert isinstance(move, Send)
    assert (move.number, move.generation) == (1, 1)


def test_the_plan_is_recorded_before_anything_is_sent():
    record = Story().record
    assert record.state is State.PLANNED
    assert record.arguments == {"order": "7781", "cents": 2500}
    assert record.contract == PLAIN
    assert record.key in record.log[0].text


@pytest.mark.parametrize("contract", [PLAIN, KEYED, NO_PROMISES, BLIND, READ])
def test_nothing_is_sent_while_an_attempt_is_in_flight(contract):
    story = Story(contract, sees=contract is not BLIND).dispatched()
    assert story.move == Wait(None)
    assert story.after(hours(900)).move == Wait(None)
    assert story.state is State.SENT


def test_a_refused_connection_is_retried_not_parked():
    story = Story().attempt(Sending.NOT_SENT)
    assert isinstance(story.move, Wait)
    assert story.proceeds(to=Send).record.asked is None


def test_a_service_that_is_down_for_a_week_costs_no_attempt_and_no_question():
    story = Story()
    for _ in range(1000):
        story.proceeds(to=Send).attempt(Sending.NOT_SENT)
    assert story.proceeds(to=Send).record.spent == 0
    assert story.now - START > hours(24 * 3)


def test_pauses_between_attempts_that_did_nothing_grow_to_a_limit():
    story, pauses = Story(), []
    for _ in range(14):
        story.attempt(Sending.REFUSED_FOR_NOW)
        ended = story.now
        pauses.append((story.proceeds(to=Send).now - ended).total_seconds())
    assert pauses[:4] == [1, 2, 4, 8]
    assert pauses == sorted(pauses)
    assert pauses[-1] == pauses[-2] <= 600


def test_the_pause_that_the_service_asks_for_is_kept():
    story = Story().attempt(Sending.REFUSED_FOR_NOW, retry_after=42.0)
    assert story.move == Wait(story.now + seconds(42))


def test_a_service_that_always_says_retry_after_zero_is_not_hammered():
    story = Story()
    for _ in range(20):
        story.proceeds(to=Send).attempt(Sending.REFUSED_FOR_NOW, took=seconds(0), retry_after=0.0)
    assert story.now - START > seconds(20)


@pytest.mark.parametrize("pause", [1e12, 1e300, float("inf"), float("nan")])
def test_an_absurd_retry_after_does_not_break_the_record(pause):
    story = Story().attempt(Sending.REFUSED_FOR_NOW, retry_after=pause)
    assert story.proceeds(to=Send).now - START <= hours(24 * 366)


def test_a_refusal_that_would_be_repeated_ends_as_rejected():
    story = Story().attempt(Sending.REFUSED, why="card declined")
    assert story.ends(State.REJECTED)
    assert story.state is State.REJECTED
    assert "card declined" in story.move.why


def test_a_lost_reply_is_looked_up_and_not_sent_again():
    story = Story().lost()
    assert story.move == Verify(story.now)
    assert story.state is State.SENT


def test_without_any_promise_a_lost_reply_is_never_followed_by_a_second_send():
    story = Story(NO_PROMISES).lost()
    assert not any(isinstance(move, Send) for move in story.moves(not_found))
    assert story.state is State.UNKNOWN


def test_without_key_and_lookup_a_lost_reply_goes_to_a_human_at_once():
    story = Story(BLIND, sees=False).lost()
    assert not any(isinstance(move, Send) for move in story.moves())
    assert story.state is State.UNKNOWN


def test_a_clean_failure_does_not_erase_an_earlier_ambiguity():
    for clean in (Sending.NOT_SENT, Sending.REFUSED_FOR_NOW, Sending.REFUSED):
        story = Story(KEYED).lost().looks(not_found()).attempt(clean)
        assert story.record.doubt is not None
        assert story.state is State.SENT
        assert not story.ends(State.REJECTED)


def test_a_clean_failure_before_an_ambiguity_does_not_hide_it():
    story = Story(KEYED).attempt(Sending.NOT_SENT).proceeds(to=Send).lost()
    assert story.record.doubt is not None


def test_a_refusal_after_an_ambiguity_is_no_verdict_until_absence_is_proven():
    story = Story(KEYED).lost().looks(not_found()).attempt(Sending.REFUSED, why="403")
    assert not any(isinstance(move, Send) for move in story.moves(lambda: unknown("down"), 40))
    assert story.after(SETTLED).looks(not_found()).ends(State.REJECTED)


def test_under_a_living_key_a_lost_attempt_is_sent_again_with_the_same_key():
    story = Story(KEYED).lost().looks(not_found()).proceeds(to=Send)
    assert story.move.generation == 1
    assert story.record.key == "refund/order-7781/refund"


def test_under_a_key_a_failed_lookup_does_not_hold_up_the_next_attempt():
    assert Story(KEYED).lost().looks(unknown("503")).proceeds(to=Send).sends


def test_no_attempt_leaves_before_the_last_one_was_looked_at():
    story = Story(KEYED)
    for _ in range(4):
        story.lost()
        assert isinstance(story.move, Verify)
        story.looks(unknown("503")).proceeds(lambda: unknown("503"), to=Send)


def test_without_a_lookup_a_key_is_enough_to_send_again():
    assert Story(KEYED_BLIND, sees=False).lost().proceeds(to=Send).sends


def test_the_attempts_under_a_key_are_bounded_and_then_a_human_is_asked():
    story = Story(but(KEYED, sends=3))
    sends = sum(isinstance(move, Send) for move in story.moves(lambda: unknown("503"), 60))
    assert sends == 3
    assert story.state is State.UNKNOWN


def test_the_last_attempt_is_looked_at_too():
    story = Story(but(KEYED, sends=1)).lost()
    assert isinstance(story.move, Verify)


def test_the_key_is_not_used_again_when_a_commit_could_outlive_its_memory():
    story = Story(KEYED).lost().looks(unknown("503"))
    latest_send = KEYED.queue + KEYED.timeout  # after the decision, as far as the contract says
    story.at(START + LIFETIME - IN_FLIGHT - latest_send)
    assert not story.sends


def test_the_key_is_used_again_while_every_commit_falls_into_its_memory():
    story = Story(KEYED).lost().at(START + LIFETIME - IN_FLIGHT - seconds(300))
    assert story.looks(unknown("503")).sends


def test_the_key_that_is_still_alive_when_we_send_is_not_enough():
    story = Story(KEYED).lost().at(START + LIFETIME - seconds(60)).looks(unknown("503"))
    assert not any(isinstance(move, Send) for move in story.moves(lambda: unknown("503"), 40))


def test_the_life_of_a_key_counts_from_the_first_attempt_that_may_have_left():
    story = Story(KEYED).attempt(Sending.NOT_SENT).at(START + hours(23)).lost()
    assert story.at(START + hours(40)).looks(unknown("503")).sends


def test_the_life_of_a_key_counts_from_the_earliest_instant_at_which_it_can_have_left():
    story = Story(KEYED).attempt(Sending.AMBIGUOUS, took=hours(1))
    assert not story.at(START + LIFETIME - IN_FLIGHT).looks(unknown("503")).sends


def test_a_refused_attempt_may_have_started_the_life_of_the_key():
    story = Story(KEYED).attempt(Sending.REFUSED_FOR_NOW).at(START + hours(23.99)).lost()
    assert not story.looks(unknown("503")).after(seconds(5)).sends


def test_the_second_attempt_does_not_prolong_the_life_of_the_key():
    story = Story(KEYED).lost().looks(unknown("503")).at(START + hours(20)).lost()
    assert not story.at(START + LIFETIME).looks(unknown("503")).sends


def test_where_in_flight_is_not_promised_half_the_lifetime_stands_in_for_it():
    contract = but(KEYED, in_flight=None, visibility_lag=None)
    early = Story(contract).lost().at(START + hours(11.9)).looks(unknown("503"))
    late = Story(contract).lost().at(START + hours(12)).looks(unknown("503"))
    assert early.sends
    assert not late.after(hours(1)).sends


def test_proven_absence_allows_the_next_send():
    story = Story().lost().after(SETTLED).looks(not_found())
    assert story.sends
    assert story.move.number == 2


def test_the_budget_of_sends_ends_as_not_found_once_absence_is_proven():
    story = Story(but(PLAIN, sends=2))
    for _ in range(2):
        story.proceeds(to=Send).lost().after(SETTLED).looks(not_found())
    assert story.ends(State.NOT_FOUND)


def test_a_second_key_is_taken_only_where_the_service_replays_stored_failures():
    plain = Story(KEYED).lost().after(SETTLED).looks(not_found())
    stores = Story(REMEMBERS_FAILURES).lost().after(SETTLED).looks(not_found())
    assert plain.move.generation == 1
    assert stores.move.generation == 2
    assert stores.dispatched().record.key.endswith("~2")
    assert "generation 2" in stores.told


def test_a_second_key_is_not_taken_while_the_first_use_is_in_doubt():
    story = Story(REMEMBERS_FAILURES).lost().looks(not_found()).proceeds(to=Send)
    assert story.record.doubt is not None
    assert story.move.generation == 1


def test_a_failure_before_sending_does_not_take_a_third_key():
    story = Story(REMEMBERS_FAILURES).lost().after(SETTLED).looks(not_found())
    story.attempt(Sending.NOT_SENT).proceeds(to=Send)
    assert story.move.generation == 2


def test_the_life_of_a_new_key_starts_with_its_own_first_use():
    story = Story(REMEMBERS_FAILURES).lost().at(START + hours(30)).looks(not_found())
    story.lost().looks(unknown("503")).after(hours(1))
    assert story.looks(unknown("503")).sends
    assert story.move.generation == 2


def test_a_read_that_got_lost_is_read_again():
    story = Story(READ, sees=False).lost().proceeds(to=Send)
    assert story.record.doubt is None
    assert story.record.spent == 0


def test_a_success_answer_after_a_lost_attempt_confirms():
    story = Story(KEYED).lost().looks(not_found())
    story.attempt(Sending.ANSWERED, receipt=Receipt(id="re_7"))
    assert story.ends(State.CONFIRMED)
    assert story.record.confirmation == Receipt(id="re_7")


def test_only_a_write_without_key_that_can_look_looks_before_its_first_send():
    assert Story(PLAIN).move.look_first
    assert not Story(KEYED).move.look_first
    assert not Story(BLIND, sees=False).move.look_first
    assert not Story(but(PLAIN, effect=Effect.READ)).move.look_first
    assert not Story(but(PLAIN, look_first=False)).move.look_first


def test_the_first_send_is_still_the_first_after_a_refused_connection():
    assert Story(PLAIN).attempt(Sending.NOT_SENT).proceeds(to=Send).move.look_first


def test_a_key_that_is_remembered_for_ever_can_be_declared_with_the_longest_duration():
    key = KeySupport(lifetime=type(LIFETIME).max)
    assert Story(but(KEYED, key=key)).lost().looks(not_found()).proceeds(to=Send).sends


@pytest.mark.parametrize("promise", ["patience", "in_flight", "visibility_lag"])
def test_an_endless_promise_is_refused_when_the_tool_is_declared(promise):
    with pytest.raises(ContractError, match=promise):
        but(PLAIN, **{promise: type(LIFETIME).max})
