"""The whole table: what each end of an attempt and each finding makes of a record."""

from collections.abc import Callable

import pytest

from surestep.evidence import (
    Finding,
    Sending,
    State,
    Verification,
    confirmed,
    not_found,
    pending,
    rejected,
    unknown,
)
from surestep.policy import Ask, Finish, Send, Verify, Wait

from .story import KEYED, QUEUED, SETTLED, Story, but, hours

S = State
ASYNC = but(KEYED, response_proves=False)


def fresh() -> Story:
    return Story(KEYED)


def in_doubt() -> Story:
    return Story(KEYED).lost().looks(unknown("503"))


def asked() -> Story:
    story = Story(but(KEYED, sends=1)).lost()
    return story.proceeds(lambda: unknown("503"), to=Ask).asked()


ENDS: list[tuple[Callable[[], Story], Sending, State, type]] = [
    (fresh, Sending.NOT_SENT, S.PLANNED, Wait),
    (fresh, Sending.REFUSED_FOR_NOW, S.PLANNED, Wait),
    (fresh, Sending.REFUSED, S.REJECTED, Finish),
    (fresh, Sending.AMBIGUOUS, S.SENT, Verify),
    (fresh, Sending.ACCEPTED, S.ACCEPTED, Verify),
    (fresh, Sending.ANSWERED, S.CONFIRMED, Finish),
    (in_doubt, Sending.NOT_SENT, S.SENT, Wait | Verify),
    (in_doubt, Sending.REFUSED_FOR_NOW, S.SENT, Wait | Verify),
    (in_doubt, Sending.REFUSED, S.SENT, Wait | Verify),
    (in_doubt, Sending.AMBIGUOUS, S.SENT, Verify),
    (in_doubt, Sending.ACCEPTED, S.ACCEPTED, Verify),
    (in_doubt, Sending.ANSWERED, S.CONFIRMED, Finish),
    (asked, Sending.NOT_SENT, S.UNKNOWN, Wait | Verify),
    (asked, Sending.REFUSED_FOR_NOW, S.UNKNOWN, Wait | Verify),
    (asked, Sending.REFUSED, S.UNKNOWN, Wait | Verify),
    (asked, Sending.AMBIGUOUS, S.SENT, Verify),
    (asked, Sending.ACCEPTED, S.ACCEPTED, Verify),
    (asked, Sending.ANSWERED, S.CONFIRMED, Finish),
]


@pytest.mark.parametrize(("tell", "outcome", "state", "move"), ENDS)
def test_each_end_of_an_attempt_leaves_the_record_where_the_rules_say(tell, outcome, state, move):
    story = tell().attempt(outcome)
    assert story.state is state
    assert isinstance(story.move, move)
    assert not story.sends
    assert story.record.in_flight is None


@pytest.mark.parametrize("outcome", Sending)
@pytest.mark.parametrize("tell", [in_doubt, asked])
def test_no_end_of_an_attempt_but_success_takes_an_earlier_doubt_away(tell, outcome):
    story = tell().attempt(outcome)
    assert story.record.doubt is not None
    assert story.ends(S.CONFIRMED) is (outcome is Sending.ANSWERED)


@pytest.mark.parametrize("outcome", Sending)
def test_only_attempts_that_may_have_left_a_doubt_are_counted_against_the_budget(outcome):
    spent = fresh().attempt(outcome).record.spent
    assert spent == (1 if outcome in (Sending.AMBIGUOUS, Sending.ACCEPTED) else 0)


@pytest.mark.parametrize("outcome", Sending)
def test_only_an_attempt_that_left_can_have_taught_the_service_our_key(outcome):
    story = fresh().attempt(outcome)
    assert (story.record.key_since is None) is (outcome is Sending.NOT_SENT)


SEEN: dict[str, Verification] = {
    "confirmed": confirmed(),
    "not_found": not_found(),
    "unknown": unknown("503"),
    "differs": confirmed(differs=["cents"]),
    "part": unknown("half", holds=["row"], missing=["event"]),
    "pending": pending("running"),
    "rejected": rejected("declined"),
}


def accepted() -> Story:
    return Story(ASYNC).attempt(Sending.ACCEPTED)


def late() -> Story:
    """In doubt, and late enough for a miss to prove something."""
    return Story(KEYED).lost().after(SETTLED)


def unkeyed() -> Story:
    return Story(QUEUED).lost().lost()


def ended() -> Story:
    return Story(but(KEYED, sends=1)).lost().after(SETTLED).looks(not_found()).closes()


FINDINGS: list[tuple[Callable[[], Story], str, State, bool]] = [
    # before, what a lookup saw, the state after it, whether the doubt stays
    (in_doubt, "not_found", S.SENT, True),
    (in_doubt, "unknown", S.SENT, True),
    (in_doubt, "differs", S.SENT, True),
    (in_doubt, "part", S.SENT, True),
    (in_doubt, "pending", S.ACCEPTED, True),
    (in_doubt, "rejected", S.REJECTED, False),
    (late, "not_found", S.PLANNED, False),
    (late, "unknown", S.SENT, True),
    (late, "differs", S.SENT, True),
    (late, "part", S.SENT, True),
    (late, "pending", S.ACCEPTED, True),
    (late, "rejected", S.REJECTED, False),
    (accepted, "not_found", S.ACCEPTED, True),
    (accepted, "unknown", S.ACCEPTED, True),
    (accepted, "pending", S.ACCEPTED, True),
    (accepted, "rejected", S.REJECTED, False),
    (asked, "not_found", S.PLANNED, False),
    (asked, "unknown", S.UNKNOWN, True),
    (asked, "differs", S.UNKNOWN, True),
    (asked, "part", S.UNKNOWN, True),
    (asked, "pending", S.UNKNOWN, True),
    (asked, "rejected", S.REJECTED, False),
    (ended, "not_found", S.NOT_FOUND, False),
    (ended, "unknown", S.NOT_FOUND, False),
    (ended, "differs", S.UNKNOWN, False),
    (ended, "part", S.UNKNOWN, False),
    (ended, "pending", S.UNKNOWN, False),
    (ended, "rejected", S.NOT_FOUND, False),
]


@pytest.mark.parametrize(("tell", "seen", "state", "stays"), FINDINGS)
def test_each_finding_leaves_the_record_where_the_rules_say(tell, seen, state, stays):
    story = tell().looks(SEEN[seen])
    assert story.state is state
    assert (story.record.doubt is not None) is stays


@pytest.mark.parametrize("tell", [in_doubt, late, accepted, asked, unkeyed, ended])
def test_a_hit_confirms_in_every_situation(tell):
    story = tell().looks(confirmed())
    assert story.state is S.CONFIRMED
    assert story.ends(S.CONFIRMED)


@pytest.mark.parametrize("tell", [in_doubt, late, accepted, asked, unkeyed, ended])
def test_a_notice_confirms_in_every_situation(tell):
    assert tell().notice().ends(S.CONFIRMED)


@pytest.mark.parametrize("seen", SEEN)
def test_only_proven_absence_lets_an_unkeyed_doubt_be_sent_again(seen):
    story = Story().lost().after(SETTLED).looks(SEEN[seen])
    assert story.sends is (seen == "not_found")


@pytest.mark.parametrize("seen", ["differs", "part", "pending"])
def test_signs_of_life_forbid_even_the_resend_under_a_living_key(seen):
    story = in_doubt().looks(SEEN[seen])
    assert not any(isinstance(m, Send) for m in story.moves(lambda: SEEN["unknown"], 60))


def test_the_table_knows_every_finding():
    assert {seen.finding for seen in SEEN.values()} == set(Finding)


@pytest.mark.parametrize("seen", SEEN)
def test_a_confirmed_action_stays_confirmed_whatever_a_lookup_sees(seen):
    story = Story(KEYED).lost().notice().after(hours(1)).looks(SEEN[seen])
    assert story.ends(S.CONFIRMED)
    assert story.closes().looks(SEEN[seen]).state is S.CONFIRMED
