"""§4 and R6: a receiver that refuses the key from now on makes absence conclusive at once."""

from surestep.evidence import Receipt, Sending, State, confirmed, not_found, unknown
from surestep.policy import Ask, Fence, Send, Verify

from .story import BLIND, KEYED, NO_PROMISES, QUEUED, Story, seconds


def fenceable(contract=NO_PROMISES, *, sees=True):
    return Story(contract, sees=sees, fences=True)


def test_a_fenced_absence_is_conclusive_at_once():
    story = fenceable().lost().looks(not_found()).fence(held=True)
    assert story.record.doubt is None
    assert story.record.absent


def test_after_a_fence_the_action_goes_on_under_the_next_key():
    story = fenceable().lost().looks(not_found()).fence(held=True)
    assert isinstance(story.move, Send)
    assert story.move.generation == 2
    assert story.dispatched().record.key == "refund/order-7781/refund~2"


def test_a_look_comes_before_the_fence():
    story = fenceable().lost()
    assert isinstance(story.move, Verify)
    assert isinstance(story.looks(not_found()).move, Fence)


def test_a_lookup_that_finds_the_effect_needs_no_fence():
    assert fenceable().lost().looks(confirmed()).ends(State.CONFIRMED)


def test_a_tool_without_lookup_is_fenced_at_once():
    assert isinstance(fenceable(BLIND, sees=False).lost().move, Fence)


def test_the_fence_may_find_the_effect():
    story = fenceable().lost().looks(not_found()).fence(held=False, exists="re_1")
    assert story.ends(State.CONFIRMED)
    assert story.record.confirmation == Receipt(id="re_1")


def test_a_fence_that_did_not_hold_proves_nothing_and_is_tried_again_later():
    story = fenceable().lost().looks(not_found()).fence(held=False)
    assert story.record.doubt is not None
    assert not isinstance(story.move, Fence | Send)
    assert isinstance(story.proceeds(not_found, to=Fence).move, Fence)


def test_a_fence_that_never_holds_ends_in_a_question():
    story = fenceable().lost()
    moves = [type(move) for move in story.moves(lambda: unknown("503"), 60)]
    assert Send not in moves
    assert moves.count(Fence) < 30
    assert story.state is State.UNKNOWN


def test_a_second_fence_is_for_the_second_key():
    story = fenceable().lost().looks(not_found()).fence(held=True).lost().looks(not_found())
    assert isinstance(story.move, Fence)
    assert story.fence(held=True).move.generation == 3


def test_while_the_key_may_be_used_again_nothing_is_fenced():
    story = fenceable(KEYED).lost().looks(unknown("503"))
    assert not isinstance(story.move, Fence)
    assert story.proceeds(lambda: unknown("503"), to=Send).sends


def test_what_is_under_way_is_not_cut_off_by_a_fence():
    story = fenceable(QUEUED).attempt(Sending.ACCEPTED).looks(unknown("503"))
    assert not any(isinstance(m, Fence) for m in story.moves(lambda: unknown("503"), 40))


def test_a_cancelled_operation_may_be_fenced():
    story = fenceable(QUEUED).attempt(Sending.ACCEPTED).looks(unknown("503")).cancel()
    assert isinstance(story.proceeds(lambda: unknown("503"), to=Fence).move, Fence)
    assert story.fence(held=True).ends(State.NOT_FOUND)


def test_a_fence_after_a_cancel_ends_as_not_found():
    story = fenceable().lost().cancel().looks(not_found()).fence(held=True)
    assert story.ends(State.NOT_FOUND)


def test_a_fence_does_not_erase_a_part_that_was_seen():
    story = fenceable().lost().looks(unknown("half", holds=["row"], missing=["event"]))
    assert isinstance(story.move, Ask)
    assert story.fence(held=True).record.doubt is not None
    assert not story.sends


def test_the_fence_settles_before_anybody_is_asked():
    story = fenceable().lost()
    moves = []
    for move in story.moves(not_found, 6):
        moves.append(type(move))
        if isinstance(move, Fence):
            break
    assert Ask not in moves
    assert story.after(seconds(0)).fence(held=True).record.asked is None
