"""Does compensate undo, can its lookup tell, and what is left behind?"""

import time
from datetime import timedelta

from surestep.conformance.promise import Promise, after
from surestep.conformance.report import Row, broken, kept, not_tested
from surestep.conformance.sending import Sent, told
from surestep.conformance.subject import Subject, seconds, until
from surestep.conformance.watch import FIRST_PAUSE, GROWTH, LONGEST_PAUSE, watch
from surestep.evidence import Finding, Receipt, Sending, Verification

NO_UNDO = "the tool has no compensate"
NO_EFFECT = "no effect is known for certain"


async def undo(
    subject: Subject, key: str, effect: Receipt | None, patience: timedelta
) -> tuple[Row, Row]:
    """Look, undo, look again."""
    tool = subject.tool.undo
    if tool is None or effect is None:
        why = NO_UNDO if tool is None else NO_EFFECT
        return not_tested(Promise.UNDO, why), not_tested(Promise.UNDO_LOOKUP, why)
    early = await subject.look_at_undo(key, effect) if tool.verify_with else None
    sent = await subject.compensate(key, effect)
    done = f"compensated the first effect → {sent.words}"
    if sent.outcome is Sending.ANSWERED:
        subject.effects.undone(key, effect)
    elif not sent.accepted:
        remedy = "correct the undo's request or shape; or leave compensate out"
        row = broken(Promise.UNDO, "compensated the first effect", sent.words, remedy)
        return row, not_tested(Promise.UNDO_LOOKUP, "the undo did not succeed")
    if early is None:
        row = await _without_lookup(subject, key, done)
        return row, not_tested(Promise.UNDO_LOOKUP, "the tool has no verify_compensation")
    late, late_by = await _until_undone(subject, key, effect, sent, patience)
    if late.finding is Finding.CONFIRMED:
        subject.effects.undone(key, effect)
    return _undone(late, late_by, done), _can_tell(early, late)


def _undone(late: Verification, late_by: float, done: str) -> Row:
    if late.finding is Finding.CONFIRMED:
        return kept(Promise.UNDO, done, f"undone, seen {after(late_by)}")
    if late.finding is Finding.UNKNOWN:
        return not_tested(Promise.UNDO, f"its lookup could not say: {late.why}", done)
    said = f"its lookup says {told(late)}"
    return broken(Promise.UNDO, done, said, "leave compensate out, or correct the undo's lookup")


def _can_tell(early: Verification, late: Verification) -> Row:
    done = "looked before and after the undo"
    said = f"{_state(early)} before, {_state(late)} after"
    remedy = "let verify_compensation confirm only what shows that it is undone (undone=…)"
    if early.finding is Finding.CONFIRMED:
        return broken(Promise.UNDO_LOOKUP, done, said, remedy)
    if late.finding is Finding.CONFIRMED:
        return kept(Promise.UNDO_LOOKUP, done, said)
    if late.finding is Finding.UNKNOWN:
        return not_tested(Promise.UNDO_LOOKUP, f"it could not say: {late.why}", done)
    return broken(Promise.UNDO_LOOKUP, done, said, remedy)


def _state(seen: Verification) -> str:
    words = {Finding.CONFIRMED: "undone", Finding.NOT_FOUND: "not undone"}
    return words.get(seen.finding, str(seen.finding))


async def _without_lookup(subject: Subject, key: str, done: str) -> Row:
    if subject.looks and subject.effects.trusted:
        await until(time.monotonic() + seconds(subject.contract.visibility_lag))
        seen = (await subject.look(key)).verification
        if seen.finding in (Finding.NOT_FOUND, Finding.REJECTED):
            return kept(Promise.UNDO, done, f"verify then says {told(seen)}")
    return not_tested(Promise.UNDO, "a success answer, and no lookup tells what is undone", done)


async def _until_undone(
    subject: Subject, key: str, effect: Receipt, sent: Sent, patience: timedelta
) -> tuple[Verification, float]:
    end = seconds(subject.contract.visibility_lag) + patience.total_seconds()
    pause = FIRST_PAUSE
    while True:
        at = time.monotonic() - sent.ended
        seen = await subject.look_at_undo(key, sent.accepted or effect)
        if seen.finding is Finding.CONFIRMED or at >= end:
            return seen, at
        await until(time.monotonic() + pause)
        pause = min(pause * GROWTH, LONGEST_PAUSE)


async def clean_up(subject: Subject, patience: timedelta, *, undo: bool) -> None:
    """Names what stands under every key that was sent, and undoes it where the tool can."""
    effects = subject.effects
    if subject.looks and effects.trusted:
        for sent in effects.doubtful:
            if sent.accepted:
                await watch(subject, sent, patience)
            else:
                await subject.look(sent.key)
    if subject.tool.undo is None or not undo:
        return
    for key, receipt in effects.open:
        if receipt.id is None:
            continue  # nothing says which effect it is, so a person has to look
        sent = await subject.compensate(key, receipt)
        if sent.outcome is Sending.ANSWERED:
            effects.undone(key, receipt)
