"""Whether a human's decision is taken. Each has one right, recorded answer (R13, R19)."""

import json
from datetime import datetime, timedelta
from typing import Final

from surestep.consent import awaits_approval
from surestep.decision import Decision, Ruling, Verdict
from surestep.evidence import Decided, State
from surestep.facts import Facts
from surestep.policy import may_compensate

ENDS_OR_WAITS = (Verdict.ABANDON, Verdict.KEEP_LOOKING, Verdict.LEAVE_UNKNOWN)

HARMLESS_UNSEEN: Final = (
    Verdict.KEEP_LOOKING,  # settles nothing, and what is found meanwhile counts
    Verdict.REFUSE,  # only forbids
    Verdict.UNDO,  # of what is confirmed, once; a second effect forbids it by itself
)
"""Verdicts that hold of whatever the record has become. Every other one names its version (R13)."""

IDS_LIMIT: Final = 50
"""So many ids of taken decisions are remembered. From then on every decision names its version,
and a copy of a forgotten one answers an older version than there is (R13)."""

LONGEST_PATIENCE = timedelta(days=366)
"""For so long a human can put a question off; it would be hidden for ever otherwise (R12)."""


ACCEPTS: Final = "the action accepts"
"""Part of the refusal of a verdict that does not fit the state."""


def verdicts(record: Facts) -> tuple[Verdict, ...]:
    """The verdicts that the record accepts now."""
    if record.confirmation:
        undoable = record.undo and may_compensate(record) and not record.undo_asked
        return (Verdict.UNDO,) if undoable else ()
    if record.closed:
        return ()
    if record.doubt is None:
        if record.stop or record.rejection:
            return ()
        return (Verdict.APPROVE, Verdict.REFUSE) if awaits_approval(record) else (Verdict.ABANDON,)
    if record.left:
        return ()
    return (Verdict.CONFIRM, *(() if record.stop else (Verdict.RETRY,)), *ENDS_OR_WAITS)


def rule(record: Facts, evidence: Decided) -> Ruling:
    """Taken or not, and why. Pure: applying it is the record's fold."""
    decision = evidence.decision
    why = evidence.objection or _objection(record, decision, evidence.at)
    return Ruling(
        taken=why is None,
        why=why or _promise(record, evidence),
        block=_block(record, evidence.decision) if why == _unseen(record) else None,
        version=record.version,
        state=record.state.value,
    )


def refused_anyway(record: Facts, decision: Decision) -> str | None:
    """Why it is refused by whomever and whenever it was said; None: that has to be found out."""
    if decision.id and decision.id in record.decided:
        return f"decision {decision.id} was taken before; nothing more was done"
    allowed = verdicts(record)
    if (record.closed or record.confirmation) and decision.verdict not in allowed:
        return _too_late(record, decision)
    pending = record.decision
    if pending and not _overrides(decision, pending):
        return f"already decided: {pending.author} said {pending.verdict}, and it is being done"
    stale = _stale(record, decision)
    if stale:
        return stale
    if decision.verdict not in allowed:
        names = ", ".join(allowed) or "no decision"
        return f"in state {record.state} {ACCEPTS} {names}"
    unseen = decision.version is None and _must_name_its_version(record, decision.verdict)
    return _unseen(record) if unseen else None


def lacks_its_version(record: Facts, decision: Decision) -> bool:
    """Whether only the version is missing that the human saw."""
    return refused_anyway(record, decision) == _unseen(record)


def _must_name_its_version(record: Facts, verdict: Verdict) -> bool:
    if len(record.decided) >= IDS_LIMIT:
        return True
    only_forbids = verdict is Verdict.ABANDON and record.doubt is None
    return verdict not in HARMLESS_UNSEEN and not only_forbids


def _unseen(record: Facts) -> str:
    return (
        f"it names no version: look at what is known now, which is version {record.version}, "
        f'and if it still holds send it with "version": {record.version}'
    )


def _block(record: Facts, decision: Decision) -> str:
    """The same words about what is known now, ready to paste."""
    seen = {"action": record.name, "version": record.version}
    told = decision.model_copy(update=seen)
    unsaid = {"at", "key", "signature"}
    return json.dumps(told.model_dump(mode="json", exclude_defaults=True, exclude=unsaid))


def _objection(record: Facts, decision: Decision, at: datetime) -> str | None:
    anyway = refused_anyway(record, decision)
    if anyway:
        return anyway
    if decision.expires and at >= decision.expires:
        return f"it expired at {decision.expires:%Y-%m-%d %H:%M:%S %Z}"
    if decision.verdict is Verdict.APPROVE:
        return _unapprovable(record, at)
    if decision.until and decision.until <= at:
        return f"`until` is not ahead: it was received at {at:%Y-%m-%d %H:%M:%S %Z}"
    if decision.until and decision.until > at + LONGEST_PATIENCE:
        return f"nobody may be kept from asking for more than {LONGEST_PATIENCE.days} days"
    if decision.verdict not in (Verdict.RETRY, Verdict.ABANDON) or record.doubt is None:
        return None
    return _unsafe(record, decision, at)


def _too_late(record: Facts, decision: Decision) -> str:
    if decision.verdict is Verdict.UNDO and record.confirmation:
        if record.undo is None:
            return "its tool has no undo: put it right in the service by hand"
        if record.state is State.CONFIRMED and not may_compensate(record):
            return "it has more than one effect: nothing is undone until that is put right there"
        return "it is being undone already" if record.undo_asked else "it cannot be undone twice"
    why = record.closed.why if record.closed else f"confirmed by {record.confirmed_by}"
    return f"too late: the action is already {record.state} ({why})"


def _stale(record: Facts, decision: Decision) -> str | None:
    if decision.version is not None and decision.version != record.version:
        return (
            f"it answers version {decision.version}, and the record is at version "
            f"{record.version}: look at it again, then decide"
        )
    if decision.input_hash is not None and decision.input_hash != record.input_hash:
        return (
            f"it answers the arguments {decision.input_hash}, and the action has "
            f"{record.input_hash}: look at it again, then decide"
        )
    return None


def _unapprovable(record: Facts, at: datetime) -> str | None:
    rule = record.contract.approval
    if rule and record.asked and at >= record.asked + rule.expires:
        return f"the question expired at {record.asked + rule.expires:%Y-%m-%d %H:%M:%S %Z}"
    return None


def _unsafe(record: Facts, decision: Decision, at: datetime) -> str | None:
    if record.trace and not decision.accept_duplicate:
        return (
            f"the lookup saw a trace; {record.trace}. Put that right in the service first and say "
            f"confirm, or send accept_duplicate with {decision.verdict}"
        )
    landing = record.landing_until
    if landing and at < landing and not record.can_verify:
        return f"too early: the request can still land until {landing:%Y-%m-%d %H:%M:%S %Z}"
    return None


def _overrides(new: Decision, pending: Decision) -> bool:
    """What forbids a send may overtake what starts one, never the other way round.

    The same verdict may come again with `accept_duplicate`, where no lookup answers.
    """
    if pending.verdict is Verdict.CONFIRM:
        return False
    if new.verdict is pending.verdict:
        return new.accept_duplicate and not pending.accept_duplicate
    return new.verdict in (Verdict.CONFIRM, Verdict.ABANDON, Verdict.LEAVE_UNKNOWN)


def _promise(record: Facts, evidence: Decided) -> str:
    """What happens now."""
    decision = evidence.decision
    if evidence.needs_another:
        return "recorded: one more person must say the same"
    match decision.verdict:
        case Verdict.CONFIRM:
            looks = "it is looked up once more, and unless the service says otherwise, "
            return f"taken: {looks if record.can_verify else ''}it is confirmed on your word"
        case Verdict.KEEP_LOOKING:
            return f"taken: a human is asked again at {decision.until:%Y-%m-%d %H:%M:%S %Z}"
        case Verdict.LEAVE_UNKNOWN:
            return "taken: the action ends as unknown, and is watched"
        case Verdict.UNDO:
            return "taken: it is undone now"
        case Verdict.APPROVE:
            return "taken: it is sent now"
        case Verdict.REFUSE:
            return "taken: it is not sent, now or later"
        case Verdict.RETRY | Verdict.ABANDON:
            return _promise_of_a_look(record, decision)


def _promise_of_a_look(record: Facts, decision: Decision) -> str:
    if record.doubt is None:
        return "taken: nothing more is sent"
    if not record.can_verify:
        return "taken, and carried out at once: this tool has no lookup"
    then = "sent again" if decision.verdict is Verdict.RETRY else "ended as not_found"
    return f"taken: the service is looked at once more, and if the effect is not there it is {then}"
