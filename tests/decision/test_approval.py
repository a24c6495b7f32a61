"""R19: what needs a human's yes is not sent before it, and not long after it."""

import pytest
from pydantic import BaseModel

from surestep import ApprovalRule, Contract, ContractError, Effect, Receipt, Tool
from surestep import evidence as ev
from surestep.decision import Decision, Verdict
from surestep.evidence import Sending, State, not_found, unknown
from surestep.outcome import outcome_of
from surestep.policy import Ask, Escalate, Finish, Send, Verify, Wait

from .story import APPROVAL, APPROVED, APPROVED_KEYED, START, Story, but, hours, seconds


def asked(contract: Contract = APPROVED) -> Story:
    return Story(contract).asked()


def test_nothing_is_sent_before_it_is_approved():
    story = Story(APPROVED)
    assert isinstance(story.move, Ask)
    assert "must be approved" in story.move.why
    assert "7781" in story.move.why
    assert isinstance(story.asked().move, Wait)
    assert story.state is State.PLANNED


def test_an_approval_of_what_was_seen_sends_at_once():
    assert isinstance(asked().approved().move, Send)
    by_hash = asked().says(Verdict.APPROVE, input_hash="v1:0")
    assert isinstance(by_hash.move, Send)


def test_an_approval_must_say_what_it_approves():
    story = asked()
    assert "it names no version" in story.ruling(Verdict.APPROVE, version=None).why
    by_hash = {"version": None, "input_hash": story.record.input_hash}
    assert not story.ruling(Verdict.APPROVE, **by_hash).taken, "a copy of it would fit the next"
    assert isinstance(story.says(Verdict.APPROVE, **by_hash).move, Wait)


def test_an_approval_of_other_arguments_is_refused():
    ruling = asked().ruling(Verdict.APPROVE, input_hash="v1:1")
    assert not ruling.taken
    assert "v1:0" in ruling.why


def test_a_refusal_ends_the_action_unsent():
    story = asked().says(Verdict.REFUSE)
    assert story.move == Finish(State.NOT_FOUND, "refused by ann")
    assert "will have none: refused by ann" in outcome_of(story.closes().record).for_model()


def test_a_question_that_nobody_answers_expires_and_nothing_is_run():
    story = asked().knows(ev.Escalated(at=START)).at(START + APPROVAL.expires)
    assert isinstance(story.move, Finish)
    assert story.move.state is State.NOT_FOUND
    said = outcome_of(story.closes().record).for_model()
    assert "nobody approved it" in said
    assert "was not run" in said


def test_an_approval_received_after_the_expiry_is_refused_and_recorded():
    story = asked().at(START + APPROVAL.expires + seconds(5))
    assert "expired" in story.ruling(Verdict.APPROVE, version=story.record.version).why
    assert isinstance(story.approved().move, Finish | Escalate)


def test_an_approval_received_in_time_counts_however_late_it_is_read():
    story = asked()
    in_time = START + APPROVAL.expires - seconds(5)
    said = Decision(verdict=Verdict.APPROVE, by="ann", version=story.record.version)
    story.at(in_time + seconds(30)).knows(ev.Decided(at=in_time, decision=said))
    assert isinstance(story.move, Send)


def test_an_approval_that_waited_too_long_is_asked_for_again():
    story = asked().approved().after(APPROVAL.valid)
    assert isinstance(story.move, Ask)
    assert "too long ago" in story.move.why
    assert isinstance(story.asked().approved().move, Send)


def test_an_approved_action_that_was_provably_not_sent_is_sent_without_asking_again():
    story = asked().approved().attempt(Sending.NOT_SENT).after(seconds(5))
    assert isinstance(story.move, Send)


def test_an_ambiguous_attempt_is_verified_before_the_approval_counts_again():
    story = asked().approved().lost()
    assert isinstance(story.move, Verify)
    assert isinstance(story.looks(ev.confirmed(Receipt(id="re_1"))).move, Finish)


def test_one_approval_covers_the_repeats_under_one_key():
    story = asked(APPROVED_KEYED).approved().lost().after(hours(2)).looks(unknown("503"))
    assert isinstance(story.proceeds(lambda: unknown("503"), to=Send).move, Send)


def test_a_new_beginning_after_proven_absence_needs_an_approval_that_is_still_valid():
    story = asked(APPROVED_KEYED).approved().lost().after(hours(2)).looks(not_found())
    assert isinstance(story.proceeds(not_found, to=Ask).move, Ask)


def test_after_a_reset_nobody_has_approved_what_is_sent_again():
    story = asked(APPROVED_KEYED).approved().dispatched().earlier_run(START)
    story.ended(Sending.NOT_SENT)
    for move in story.moves(not_found, 30):
        assert not isinstance(move, Send), "sent again without an approval"
        if isinstance(move, Ask):
            break
    assert "must be approved" in story.record.asked_why or story.record.doubt


def test_a_reset_while_approval_is_asked_sends_nothing():
    story = asked(APPROVED_KEYED).earlier_run(START)
    assert all(not isinstance(move, Send) for move in story.moves(not_found, 60))


def test_a_human_who_says_retry_has_approved_it():
    story = Story(but(APPROVED, in_flight=None)).asked().approved().lost().after(hours(3))
    story.proceeds(not_found, to=Ask).asked().says(Verdict.RETRY)
    assert isinstance(story.proceeds(not_found, to=Send).move, Send)


def test_a_question_that_stands_too_long_is_escalated_once():
    story = asked().after(hours(4))
    assert isinstance(story.move, Escalate)
    version = story.record.version
    assert isinstance(story.knows(ev.Escalated(at=story.now)).move, Wait)
    assert story.record.version == version, "what the human has seen is not stale"


class Refund(BaseModel):
    order: str
    cents: int


def tool(approval: ApprovalRule | None) -> Tool:
    return Tool("refund", Refund, Contract(effect=Effect.REVERSIBLE, ask=True, approval=approval))


def test_a_predicate_on_the_arguments_chooses_what_must_be_approved():
    refund = tool(ApprovalRule())

    @refund.approve_if
    def _(args: Refund) -> bool:
        return args.cents > 10_000

    assert not refund.needs_approval({"order": "1", "cents": 10_000})
    assert refund.needs_approval({"order": "1", "cents": 10_001})


def test_without_a_predicate_everything_must_be_approved():
    assert tool(ApprovalRule()).needs_approval({"order": "1", "cents": 1})
    assert not tool(None).needs_approval({"order": "1", "cents": 1})


def test_a_predicate_without_a_rule_is_refused_with_the_remedy():
    with pytest.raises(ContractError, match="ApprovalRule"):
        tool(None).approve_if(lambda args: True)


def test_an_undo_needs_no_approval_of_its_own():
    refund = tool(ApprovalRule())

    @refund.compensate
    async def _(args, call): ...

    assert refund.undo
    assert refund.undo.contract.approval is None


@pytest.mark.parametrize("field", ["expires", "valid"])
def test_an_approval_rule_without_time_is_refused(field):
    with pytest.raises(ContractError, match="longer than zero"):
        but(APPROVED, approval=ApprovalRule(**{field: seconds(0)}))
