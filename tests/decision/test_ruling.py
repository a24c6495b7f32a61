"""R13: which decision is taken in which situation, and what the others are told."""

from collections.abc import Callable
from itertools import product

import pytest

from surestep import evidence as ev
from surestep.decision import Decision, Verdict
from surestep.evidence import Receipt, Sending, State, confirmed, not_found, unknown
from surestep.policy import Ask, Send
from surestep.ruling import rule

from .story import APPROVED, BLIND, IN_FLIGHT, KEYED, QUEUED, START, Story, hours, seconds

CONFIRM, RETRY, ABANDON = Verdict.CONFIRM, Verdict.RETRY, Verdict.ABANDON
KEEP_LOOKING, LEAVE_UNKNOWN = Verdict.KEEP_LOOKING, Verdict.LEAVE_UNKNOWN
APPROVE, REFUSE, UNDO = Verdict.APPROVE, Verdict.REFUSE, Verdict.UNDO
HARMLESS = {CONFIRM, KEEP_LOOKING, LEAVE_UNKNOWN}  # they start nothing
ALL = {*HARMLESS, RETRY, ABANDON}


def asked() -> Story:
    return Story().lost().proceeds(lambda: unknown("503"), to=Ask).asked()


def traced() -> Story:
    return Story().lost().looks(confirmed(Receipt(id="re_1"), differs=["cents"]))


def second_in_flight() -> Story:
    return Story(KEYED).lost().looks(not_found()).dispatched()


def compensated() -> Story:
    story = Story().attempt(Sending.ANSWERED).closes()
    return story.knows(ev.Compensated(at=story.now, receipt=Receipt()))


SITUATIONS: dict[str, tuple[Callable[[], Story], set[Verdict]]] = {
    "planned": (Story, {ABANDON}),
    "first attempt in flight": (lambda: Story().dispatched(), {ABANDON}),
    "refused connection": (lambda: Story().attempt(Sending.NOT_SENT), {ABANDON}),
    "in doubt": (lambda: Story().lost(), ALL),
    "second attempt in flight": (second_in_flight, ALL),
    "accepted": (lambda: Story(QUEUED).attempt(Sending.ACCEPTED), ALL),
    "asked": (asked, ALL),
    "trace seen": (traced, HARMLESS),  # the others must say that they accept a duplicate
    "earlier run": (lambda: Story().earlier_run(START), ALL),
    "cancelled in doubt": (lambda: Story().lost().cancel(), {*HARMLESS, ABANDON}),
    "cancelled unsent": (lambda: Story().cancel(), set()),
    "retry pending": (lambda: asked().says(RETRY), {CONFIRM, ABANDON, LEAVE_UNKNOWN}),
    "abandon pending": (lambda: asked().says(ABANDON), {CONFIRM, LEAVE_UNKNOWN}),
    "told to keep looking": (lambda: asked().says(KEEP_LOOKING), ALL),
    "left unknown": (lambda: asked().says(LEAVE_UNKNOWN).closes(), set()),
    "awaits approval": (lambda: Story(APPROVED).asked(), {APPROVE, REFUSE}),
    "approved": (lambda: Story(APPROVED).asked().approved(), {ABANDON}),
    "undoable": (lambda: Story(undo=True).attempt(Sending.ANSWERED), {UNDO}),
    "undoable and ended": (lambda: Story(undo=True).attempt(Sending.ANSWERED).closes(), {UNDO}),
    "being undone": (lambda: Story(undo=True).attempt(Sending.ANSWERED).says(UNDO), set()),
    "rejected": (lambda: Story().attempt(Sending.REFUSED), set()),
    "rejected and ended": (lambda: Story().attempt(Sending.REFUSED).closes(), set()),
    "confirmed": (lambda: Story().attempt(Sending.ANSWERED), set()),
    "confirmed and ended": (lambda: Story().attempt(Sending.ANSWERED).closes(), set()),
    "ended not_found": (lambda: Story().cancel().closes(), set()),
    "compensated": (compensated, set()),
}
EVERY = [*product(SITUATIONS, Verdict)]


@pytest.mark.parametrize(("situation", "verdict"), EVERY)
def test_every_verdict_is_taken_where_it_makes_sense_and_nowhere_else(situation, verdict):
    tell, taken = SITUATIONS[situation]
    assert tell().ruling(verdict).taken is (verdict in taken)


@pytest.mark.parametrize(("situation", "verdict"), EVERY)
def test_every_ruling_gives_its_reason_and_where_the_record_stands(situation, verdict):
    story = SITUATIONS[situation][0]()
    ruling = story.ruling(verdict)
    assert ruling.why
    assert ruling.version == story.record.version
    assert ruling.state == story.state.value


@pytest.mark.parametrize(("situation", "verdict"), EVERY)
def test_a_refused_decision_changes_nothing_but_the_log(situation, verdict):
    tell, taken = SITUATIONS[situation]
    before, after = tell().record, tell().says(verdict).record
    if verdict not in taken:
        assert after.refused_decisions == before.refused_decisions + 1
        unchanged = {"log": before.log, "refused_decisions": before.refused_decisions}
        assert after.model_copy(update=unchanged) == before


@pytest.mark.parametrize("situation", SITUATIONS)
def test_an_offered_verdict_is_never_offered_in_vain(situation):
    story = SITUATIONS[situation][0]()
    for verdict in story.accepts:
        words = story.ruling(verdict).why
        assert story.ruling(verdict).taken or any(
            reason in words
            for reason in ("duplicate", "already decided", "earlier run", "what it approves")
        )


def test_a_decision_after_the_end_is_answered_as_too_late():
    ruling = Story().attempt(Sending.ANSWERED).closes().ruling(RETRY)
    assert "too late" in ruling.why
    assert "confirmed" in ruling.why


def test_the_second_click_is_answered_as_too_late():
    story = asked().says(CONFIRM, id="d1")
    assert "already decided" in story.ruling(CONFIRM, id="d2").why
    story.looks(unknown("503"))
    assert "too late" in story.ruling(CONFIRM, id="d2").why


def test_the_same_decision_delivered_twice_is_applied_once():
    story = asked().says(RETRY, id="d1").proceeds(not_found, to=Send)
    story.lost().proceeds(lambda: unknown("503"), to=Ask).asked()
    version = story.record.version
    ruling = story.ruling(RETRY, id="d1")
    assert not ruling.taken
    assert "d1" in ruling.why
    assert story.says(RETRY, id="d1").record.decision is None
    assert story.record.version == version


def test_a_refused_decision_may_come_again_under_its_id():
    story = Story(BLIND, sees=False).dispatched().says(RETRY, id="d1")
    assert story.ended(Sending.AMBIGUOUS).ruling(RETRY, id="d1").taken


def test_a_decision_for_an_older_version_is_refused_and_told_the_present_one():
    story = asked()
    seen = story.record.version
    story.looks(unknown("half", holds=["row"], missing=["event"]))
    ruling = story.ruling(CONFIRM, version=seen)
    assert not ruling.taken
    assert str(story.record.version) in ruling.why


def test_a_decision_for_a_version_that_does_not_exist_yet_is_refused():
    story = asked()
    assert not story.ruling(CONFIRM, version=story.record.version + 1).taken


def test_a_decision_for_the_version_that_is_there_is_taken():
    story = asked()
    assert story.ruling(RETRY, version=story.record.version).taken


def test_a_second_retry_while_the_first_is_carried_out_is_refused():
    story = asked().says(RETRY, by="ann")
    ruling = story.ruling(RETRY, by="bob")
    assert not ruling.taken
    assert "ann" in ruling.why


def test_the_second_click_on_retry_is_told_that_it_is_already_decided():
    story = asked()
    seen = story.record.version
    why = story.says(RETRY, version=seen, by="ann").ruling(RETRY, version=seen).why
    assert "ann" in why
    assert "then decide" not in why


def test_nobody_can_start_a_send_over_anothers_stop():
    assert not asked().says(ABANDON, by="ann").ruling(RETRY).taken


def test_a_retry_that_no_lookup_can_answer_may_be_repeated_with_accept_duplicate():
    story = asked().says(RETRY)
    for _ in range(20):
        story.after(hours(1)).looks(unknown("503"))
    assert story.ruling(RETRY, accept_duplicate=True).taken


def test_an_abandon_that_no_lookup_can_answer_may_be_repeated_with_accept_duplicate():
    story = asked().says(ABANDON)
    for _ in range(20):
        story.after(hours(1)).looks(unknown("503"))
    assert story.ruling(ABANDON, accept_duplicate=True).taken


def test_what_was_partly_seen_is_only_done_again_by_somebody_who_accepts_a_duplicate():
    assert "accept_duplicate" in traced().ruling(RETRY).why
    assert traced().ruling(RETRY, accept_duplicate=True).taken


def test_without_a_lookup_a_decision_waits_until_nothing_can_land_any_more():
    story = Story(BLIND.model_copy(update={"in_flight": IN_FLIGHT}), sees=False).lost()
    assert "too early" in story.ruling(RETRY).why
    assert "too early" in story.ruling(ABANDON).why
    assert story.ruling(CONFIRM).taken
    assert story.after(IN_FLIGHT).ruling(RETRY).taken


def test_the_senders_own_clock_does_not_count():
    story = asked().says(RETRY, at=START - hours(9))
    assert story.record.decision.at == story.now


def test_a_decision_is_recorded_with_who_and_why():
    told = asked().says(CONFIRM, by="ann", note="seen in the dashboard").told
    assert "ann" in told
    assert "seen in the dashboard" in told


def test_junk_is_recorded_counted_and_changes_nothing():
    story = asked()
    version = story.record.version
    for _ in range(2000):
        story.after(seconds(0.01)).knows(ev.Unreadable(at=story.now, why="not an object"))
    assert story.record.refused_decisions == 2000
    assert story.record.version == version
    assert story.ruling(CONFIRM, version=version).taken
    assert len(story.record.log) < 100


def test_many_taken_decisions_keep_the_record_bounded_and_no_copy_of_one_is_taken_again():
    story = Story(BLIND, sees=False)
    first = story.lost().record.version
    for number in range(300):
        story.says(RETRY, id=f"d{number}")
        assert story.sends
        story.lost()
    assert len(story.record.decided) <= 100
    assert len(story.record.log) <= 100
    assert "it answers version" in story.ruling(RETRY, id="d0", version=first).why
    assert "it names no version" in story.ruling(RETRY, id="d0", version=None).why


def test_a_flood_of_what_needs_no_version_makes_no_copy_of_it_count_again():
    story = asked()
    for number in range(80):
        told = {} if number >= 50 else {"version": None}
        story.says(KEEP_LOOKING, id=f"d{number}", until=story.now + hours(number + 1), **told)
    assert story.record.decided[0] == "d30"
    copy = {"id": "d0", "until": story.now + hours(1)}
    assert "it names no version" in story.ruling(KEEP_LOOKING, version=None, **copy).why
    assert story.ruling(KEEP_LOOKING, id="d99").taken


@pytest.mark.parametrize(("situation", "verdict"), EVERY)
def test_what_sends_or_settles_for_good_is_refused_without_the_version_that_was_seen(
    situation, verdict
):
    tell, taken = SITUATIONS[situation]
    story = tell()
    if verdict not in taken:
        return
    ruling = story.ruling(verdict, version=None, by="ann")
    only_forbids = verdict is ABANDON and story.record.doubt is None
    assert ruling.taken is (verdict in {KEEP_LOOKING, REFUSE, UNDO} or only_forbids)
    if not ruling.taken:
        assert f"which is version {story.record.version}" in ruling.why
        told = Decision.model_validate_json(ruling.block)
        assert (told.by, told.verdict) == ("ann", verdict)
        told_again = ev.Decided(at=story.now, decision=told)
        assert rule(story.record, told_again).taken


def test_the_refusal_of_an_unversioned_decision_fits_its_line():
    story = asked().says(RETRY, by="somebody with a name", version=None)
    assert story.told.endswith(f'send it with "version": {story.record.version}')


def test_the_state_after_a_decision_that_is_not_carried_out_yet_is_not_settled():
    assert asked().says(RETRY).state is State.UNKNOWN
