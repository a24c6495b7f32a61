"""Does a fence hold, and does it tell what was there already?"""

from datetime import timedelta

from surestep.conformance.promise import Promise
from surestep.conformance.report import Row, broken, kept, not_tested
from surestep.conformance.sending import shown, told
from surestep.conformance.subject import Subject
from surestep.conformance.watch import watch
from surestep.evidence import Finding, Receipt, Sending
from surestep.tool import Fence

NO_FENCE = "the tool has no fence"
DROP = "leave fence out: a fenced absence counts as proven at once"


async def fence(subject: Subject, patience: timedelta) -> Row:
    """Fence a key that was never used, then send under it."""
    promise = Promise.FENCE
    if subject.tool.fence_with is None:
        return not_tested(promise, NO_FENCE)
    key = subject.key("fenced")
    answer = await subject.fence(key)
    done = "fenced a fresh key"
    if isinstance(answer, str):
        return broken(promise, done, f"the fence failed: {answer}", DROP)
    if not answer.held:
        said = "it says that an effect exists" if answer.exists else "it does not say that it holds"
        return broken(promise, done, said, "correct what fence reads (FenceRequest(held=…))")
    done = "fenced a fresh key, then sent under it"
    sent = await subject.execute(key)
    if sent.outcome in (Sending.NOT_SENT, Sending.REFUSED_FOR_NOW):  # a rate limit is no fence
        return not_tested(promise, sent.words, done)
    if sent.outcome is Sending.ANSWERED:
        return broken(promise, done, f"it was performed: {sent.words}", DROP)
    if sent.outcome is Sending.REFUSED:
        return kept(promise, done, sent.words)
    if not subject.looks:
        return await _asked_again(subject, key, done, sent.words)
    seen = await watch(subject, sent, min(patience, timedelta(seconds=2)))
    if seen.confirmed or seen.last.trace:
        return broken(promise, done, f"it was performed: {told(seen.last)}", DROP)
    if seen.last.finding in (Finding.NOT_FOUND, Finding.REJECTED):
        subject.effects.absent(key)
        return kept(promise, done, f"{sent.words}; then {told(seen.last)}")
    return not_tested(promise, f"{sent.words}; then {told(seen.last)}", done)


async def _asked_again(subject: Subject, key: str, done: str, words: str) -> Row:
    """Without a lookup the fence itself can tell what is under the key."""
    again = await subject.fence(key)
    if isinstance(again, Fence) and again.exists:
        return broken(Promise.FENCE, done, f"it was performed: {shown(again.exists.id)}", DROP)
    if isinstance(again, Fence) and again.held:
        subject.effects.absent(key)
        return kept(Promise.FENCE, done, f"{words}; fenced again, it still holds")
    return not_tested(Promise.FENCE, words, done)


async def existing(subject: Subject, key: str, effect: Receipt | None) -> Row:
    """Fence the key of an effect that is there: `held` would call it absent for ever."""
    promise = Promise.FENCE_EXISTING
    if subject.tool.fence_with is None:
        return not_tested(promise, NO_FENCE)
    if effect is None:
        return not_tested(promise, "no effect is known for certain")
    done = "fenced the first effect's key"
    answer = await subject.fence(key)
    remedy = f"let fence return Fence(held=False, exists=…) (FenceRequest(exists=…)); or {DROP}"
    if isinstance(answer, str):
        return broken(promise, done, f"the fence failed: {answer}", remedy)
    if answer.exists is None:
        said = "it says that it holds: nothing happened" if answer.held else "it names no effect"
        return broken(promise, done, said, remedy)
    if effect.id and answer.exists.id and effect.id != answer.exists.id:
        said = f"it names {shown(answer.exists.id)}, the effect is {shown(effect.id)}"
        return broken(promise, done, said, remedy)
    return kept(promise, done, f"it names {shown(answer.exists.id) or 'the effect'}")
