"""How each kind of evidence changes a record. Pure; what follows from it is `surestep.policy`."""

from datetime import datetime, timedelta
from typing import Any

from surestep import evidence as ev
from surestep.agenda import RETRY_CAP, backoff
from surestep.confirmation import asserted, happened
from surestep.contract import Effect
from surestep.decision import Approval, Decision, Verdict
from surestep.evidence import Evidence, Receipt, Sending, State
from surestep.facts import RESPONSE, Agreement, Facts, Looks
from surestep.knowledge import NOBODY_ASKED, in_doubt, know, named, pause
from surestep.ruling import IDS_LIMIT, rule
from surestep.sightings import fenced, looked, noticed

# What humans saw of an earlier run must not look like an answer to this one.
VERSIONS_OF_A_RUN = 1000
REFUSALS_LIMIT = 10  # what was refused is told one by one
NO_ANSWER = "nobody has answered"
HINTS_APART = timedelta(minutes=1)  # so that a flood of them is no flood of lookups


def fold(record: Facts, evidence: Evidence) -> Facts:
    """The record that knows `evidence` as well. Nothing that was known is forgotten."""
    match evidence:
        case ev.EarlierRun():
            return _earlier_run(record, evidence)
        case ev.Dispatched():
            return _dispatched(record, evidence)
        case ev.Attempted():
            return _attempted(record, evidence)
        case ev.Looked():
            return looked(record, evidence)
        case ev.Noticed():
            return noticed(record, evidence)
        case ev.Hinted():
            return _hinted(record, evidence)
        case ev.Fenced():
            return fenced(record, evidence)
        case ev.Decided():
            return _decided(record, evidence)
        case ev.Unreadable(at=at, why=why):
            return _refused(record, at, f"a decision could not be read: {why}")
        case ev.Lapsed(at=at):
            return _lapsed(record, at)
        case ev.CancelRequested():
            return _cancel_requested(record, evidence)
        case ev.Asked(at=at, why=why):
            said = f"a human is asked: {why}"
            fresh: dict[str, Any] = {**NOBODY_ASKED, "asked": at, "asked_why": why, "told": ()}
            return know(record, at, said, decision=None, **fresh)
        case ev.Notified(at=at, told=told, why=why):
            everybody = tuple(dict.fromkeys((*record.told, *told)))
            return know(record, at, why, news=False, told=everybody)
        case ev.Escalated(at=at):
            said = "what was decided is not carried out" if record.decision else NO_ANSWER
            return know(record, at, f"overdue: {said}", news=False, overdue=at)
        case ev.Compensated(at=at, receipt=receipt):
            closed = ev.Closed(at=at, state=State.COMPENSATED, why="undone by the action's undo")
            return know(record, at, f"undone{named(receipt)}", closed=closed)
        case ev.Closed(at=at, state=state, why=why):
            return know(record, at, f"ended {state}: {why}", closed=evidence)


def _earlier_run(record: Facts, evidence: ev.EarlierRun) -> Facts:
    if record.closed or record.confirmation:
        return record
    if record.contract.effect is Effect.READ:
        return record  # reading again does no harm
    earliest = [time for time in (record.key_since, evidence.since) if time]
    return know(
        record,
        evidence.at,
        f"may have been sent before: {evidence.why}",
        key_since=min(earliest, default=None),
        key_dead=record.key_dead or evidence.since is None,
        inherited=True,
        decision=None,  # it may have been carried out
        approval=None,  # it may have been used
        agreed=(),
        left=None,
        version=record.version + VERSIONS_OF_A_RUN,
        **in_doubt(record, evidence.since, _until_deadline(record, evidence.at), evidence.at),
    )


def _until_deadline(record: Facts, ended: datetime) -> datetime:
    """An attempt that nobody heard the end of can send until its own deadline (R6)."""
    return ended + record.contract.timeout


def _dispatched(record: Facts, evidence: ev.Dispatched) -> Facts:
    changes: dict[str, Any] = {
        "in_flight": evidence.at,
        "attempts": record.attempts + 1,
        "absent": False,
        "not_before": None,
        "rejection": None,
    }
    text = f"attempt {record.attempts + 1} dispatched"
    if evidence.generation != record.generation:
        changes |= {
            "generation": evidence.generation,
            "key_since": None,
            "key_dead": False,
            "fenced": False,
            "fence_failures": 0,
            "fence_tried": None,
        }
        text += f" under key generation {evidence.generation}"
    return know(record, evidence.at, text, **changes)


def _attempted(record: Facts, evidence: ev.Attempted) -> Facts:
    since, at, outcome, receipt = record.in_flight, evidence.at, evidence.outcome, evidence.receipt
    if outcome is Sending.AMBIGUOUS and record.contract.effect is Effect.READ:
        outcome = Sending.REFUSED_FOR_NOW  # reading again does no harm
    changes: dict[str, Any] = {"in_flight": None, "ended": at}
    if outcome is not Sending.NOT_SENT and record.key_since is None:
        changes["key_since"] = since  # from here on the service may know the key
    words = f"attempt {record.attempts}"
    why = f": {evidence.why}" if evidence.why else ""
    definite = outcome in (Sending.NOT_SENT, Sending.REFUSED_FOR_NOW)
    if not definite and record.decision and record.decision.verdict is Verdict.RETRY:
        # Carried out, and the question with it; a definite failure does not use it up.
        changes |= {"decision": None, "asked": None}
    if definite:
        wait = max(backoff(record.setbacks + 1, RETRY_CAP), pause(evidence.retry_after))
        changes |= {"setbacks": record.setbacks + 1, "not_before": at + wait}
        said = "was not sent" if outcome is Sending.NOT_SENT else "was refused for now"
        return know(record, at, f"{words} {said}{why}", quiet=record.setbacks > 0, **changes)
    if outcome is Sending.REFUSED:
        changes["rejection"] = evidence.why or "refused by the service"
        return know(record, at, f"{words} was refused{why}", **changes)
    if outcome is Sending.AMBIGUOUS:
        changes |= in_doubt(record, since, evidence.latest or at, at)
        return know(record, at, f"{words} is ambiguous{why}", **changes)
    if outcome is Sending.ANSWERED and record.contract.response_proves:
        known = record.model_copy(update=changes)
        found, said = (receipt or Receipt(),), f"{words} succeeded{why}"
        return happened(known, at, RESPONSE, found, said=said)
    changes |= in_doubt(record, since, evidence.latest or at, at)
    changes |= {"accepted": receipt or Receipt(), "accepted_at": at}  # R11
    changes |= {"not_before": at + pause(evidence.retry_after)}
    return know(record, at, f"{words} was accepted{named(receipt)}{why}", **changes)


def _decided(record: Facts, evidence: ev.Decided) -> Facts:
    decision, at = evidence.decision, evidence.at
    ruling = rule(record, evidence)
    said = f"{decision.author} decided to {decision.verdict.replace('_', ' ')}"
    if not ruling.taken:
        return _refused(record, at, f"{said}: refused, {ruling.why}")
    note = f" ({decision.note})" if decision.note else ""
    ids = (*record.decided, decision.id) if decision.id else record.decided
    changes: dict[str, Any] = {"decided": ids[-IDS_LIMIT:]}
    if evidence.needs_another:
        agreed = (*record.agreed, Agreement.of(decision, decision.author, record.version))
        text = f"{said}{note}; one more person must agree"
        return know(record, at, text, news=False, agreed=agreed[-IDS_LIMIT:], **changes)
    again = decision.verdict is Verdict.KEEP_LOOKING and decision.until == record.patient_until
    changes |= {"agreed": (), **_obeyed(record, decision, at)}
    return know(record, at, f"{said}{note}", quiet=again, **changes)


def _obeyed(record: Facts, decision: Decision, at: datetime) -> dict[str, Any]:
    """The changes that a decision makes once it is taken."""
    match decision.verdict:
        case Verdict.CONFIRM if not record.can_verify:
            return asserted(decision)
        case Verdict.KEEP_LOOKING:
            return {"asked": None, "overdue": None, "patient_until": decision.until}
        case Verdict.LEAVE_UNKNOWN:
            return {"left": f"left unknown by {decision.author}", "decision": None}
        case Verdict.UNDO:
            return {"undo_asked": decision.author, "undo_until": decision.expires}
        case Verdict.APPROVE:
            approval = Approval(by=decision.author, at=at, expires=decision.expires)
            return {"approval": approval, "asked": None, "overdue": None}
        case Verdict.REFUSE:
            return {"stop": f"refused by {decision.author}"}
        case _ if record.doubt is None:
            return {"stop": f"abandoned by {decision.author}"}
        case _:
            # Looking starts afresh: what was seen before the decision does not count.
            looks = Looks(total=record.looks.total)
            told = decision.model_copy(update={"at": at})
            return {"decision": told, "looks": looks, "overdue": None}


def _lapsed(record: Facts, at: datetime) -> Facts:
    """What a human said, and nobody could carry out in time, says nothing any more."""
    if record.decision:
        said = f"the decision of {record.decision.author} to {record.decision.verdict}"
        changes: dict[str, Any] = {"decision": None, **NOBODY_ASKED}
    else:
        said = f"the decision of {record.undo_asked} to undo"
        changes = {"undo_asked": None, "undo_until": None}
    return know(record, at, f"{said} was not carried out: it expired before it could be", **changes)


def _hinted(record: Facts, evidence: ev.Hinted) -> Facts:
    """It changes nothing, and is a reason to look where the last look is some time ago."""
    known = _refused(record, evidence.at, f"a notice does not count: {evidence.why}")
    looked = record.looks.started
    if record.doubt is None or (looked and evidence.at < looked + HINTS_APART):
        return known
    return known.model_copy(update={"hinted": evidence.at})


def _refused(record: Facts, at: datetime, text: str) -> Facts:
    """A decision that changes nothing, not even the version that another human has seen."""
    count = record.refused_decisions + 1
    if count > REFUSALS_LIMIT:
        text = "more was refused"
    known = know(record, at, text, refused_decisions=count)
    return known.model_copy(update={"version": record.version})


def _cancel_requested(record: Facts, evidence: ev.CancelRequested) -> Facts:
    if record.closed or record.stop:
        return record
    late = record.doubt or record.in_flight or record.confirmation
    text = f"{evidence.why}; too late to stop what may have left" if late else evidence.why
    changes: dict[str, Any] = {"stop": evidence.why}
    dropped = record.decision is not None and record.decision.verdict is Verdict.RETRY
    if dropped:
        text += "; the decision to retry was not carried out"
        changes |= {"decision": None, "asked": None}
    # It makes no answer wrong: what it forbids is refused, and the rest holds as before.
    return know(record, evidence.at, text, news=dropped, **changes)
