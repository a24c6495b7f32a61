"""Does a success answer prove the effect, and a refusal not look like one?"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from surestep.conformance.lookups import NO_VERIFY
from surestep.conformance.promise import Promise, after, span
from surestep.conformance.report import Judgement, Row, broken, kept, not_tested
from surestep.conformance.sending import shown, told
from surestep.conformance.subject import Subject, seconds
from surestep.conformance.watch import Watch, watch
from surestep.evidence import Finding, Sending

HOLLOW = (
    "let execute look into the answer (HttpTool: Shape(success=…) or a Rule) and raise Refused, "
    "or set response_proves=False"
)


def proves(subject: Subject, first: Watch | None, sees: Row) -> Row:
    """Execute answered with success: does verify say so too?"""
    promise, contract = Promise.PROOF, subject.contract
    if first is None:
        return not_tested(promise, NO_VERIFY)
    done = f"execute → {first.sent.words}, then looked"
    if first.sent.outcome is Sending.AMBIGUOUS:
        said = f"verify found it: {told(first.last)}"
        remedy = "let execute recognise the service's success (HttpTool: Shape(…))"
        return broken(promise, done, said, remedy)
    if first.last.finding is Finding.REJECTED:
        said = told(first.last)
        if first.sent.accepted or not contract.response_proves:
            return not_tested(promise, f"{said}; give arguments that the sandbox accepts", done)
        return broken(promise, done, said, "set response_proves=False")
    if first.settled is not None:
        return _settled(subject, first, first.settled, done)
    if first.pending is not None:
        if contract.response_proves and not first.sent.accepted:
            said = f"still pending after {span(first.pending)}: it was accepted only"
            return broken(promise, done, said, "set response_proves=False or return Accepted(…)")
        return not_tested(promise, f"pending after {span(first.pending)}; raise --patience", done)
    return _never_seen(subject, first, sees, done)


def _settled(subject: Subject, first: Watch, settled: float, done: str) -> Row:
    lag = seconds(subject.contract.visibility_lag)
    early = first.sent.outcome is Sending.ANSWERED and subject.contract.response_proves
    if early and first.pending is not None and first.pending >= lag:
        said = f"pending at {span(first.pending)}, {told(first.last)} only later"
        return broken(Promise.PROOF, done, said, "set response_proves=False or return Accepted(…)")
    way = "pending, then " if first.pending is not None else ""
    return kept(Promise.PROOF, done, f"{way}{told(first.last)} {after(settled)}")


def _never_seen(subject: Subject, first: Watch, sees: Row, done: str) -> Row:
    missed = first.missed
    if missed is None:
        return not_tested(Promise.PROOF, f"every look failed: {first.last.why}", done)
    settles = subject.contract.settles_after
    if first.sent.accepted or not subject.contract.response_proves:
        if settles is None or missed < seconds(settles):
            return not_tested(Promise.PROOF, "never seen; raise --patience", done)
        said = f"not_found {span(missed)} after it was sent"
        return broken(Promise.PROOF, done, said, "promise a longer in_flight or visibility_lag")
    probed = subject.tool.sight_with is not None
    if probed and sees.verdict is Judgement.BROKEN:
        return not_tested(Promise.PROOF, "the lookup cannot see", done)
    said = f"still not_found {span(missed)} later"
    if not probed and first.sent.id is not None:
        said += "; or the lookup cannot see (below)"
    if subject.contract.visibility_lag is None:
        said += "; or it needs longer (--patience)"
    return broken(Promise.PROOF, done, said, HOLLOW)


async def refusal(subject: Subject, refused: Mapping[str, Any] | None, patience: timedelta) -> Row:
    """Arguments that the service refuses must not come back as a success."""
    promise = Promise.REFUSAL
    if refused is None:
        return not_tested(promise, "give --refused-args: arguments that the sandbox refuses")
    key = subject.key("refused")
    sent = await subject.execute(key, refused)
    done = f"sent the refused arguments → {sent.words}"
    if sent.outcome in (Sending.NOT_SENT, Sending.REFUSED_FOR_NOW):
        return not_tested(promise, sent.words, "sent the refused arguments")
    if sent.outcome is Sending.REFUSED:
        return kept(promise, "sent the refused arguments", sent.words)
    seen = await watch(subject, sent, patience, refused) if subject.looks else None
    if seen and (seen.confirmed or seen.last.trace):
        return not_tested(promise, f"the service performed them: {told(seen.last)}", done)
    if seen and (seen.last.finding is Finding.REJECTED or seen.missed is not None):
        subject.effects.absent(key)
    if sent.outcome is Sending.AMBIGUOUS:
        why = f"{sent.words}; a Rule for it would spare the looks"
        return kept(promise, "sent the refused arguments", why)
    if sent.accepted:
        rejected = seen is not None and seen.last.finding is Finding.REJECTED
        if rejected and seen:
            return kept(promise, done, told(seen.last))
        return not_tested(promise, "it was accepted, and how it ended was not seen", done)
    said = f"{told(seen.last)}: nothing was applied" if seen else f"a success: {shown(sent.id)}"
    return broken(promise, done, said.rstrip(": "), HOLLOW)
