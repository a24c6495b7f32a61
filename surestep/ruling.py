"""Whether a human's decision is taken. Each has one right, recorded answer (R13)."""

from datetime import datetime

from surestep.decision import Decision, Ruling, Verdict
from surestep.facts import Facts


def verdicts(record: Facts) -> tuple[Verdict, ...]:
    """The verdicts that the record accepts now."""
    if record.closed or record.confirmation:
        return ()
    if record.doubt is None:
        return () if record.stop or record.rejection else (Verdict.ABANDON,)
    if record.stop:
        return (Verdict.CONFIRM, Verdict.ABANDON)
    return (Verdict.CONFIRM, Verdict.RETRY, Verdict.ABANDON)


def rule(record: Facts, decision: Decision, at: datetime) -> Ruling:
    """Taken or not, and why. Pure: applying it is the record's fold."""
    why = _objection(record, decision, at)
    return Ruling(
        taken=why is None,
        why=why or _promise(record, decision),
        version=record.version,
        state=record.state.value,
    )


def _objection(record: Facts, decision: Decision, at: datetime) -> str | None:
    if decision.id and decision.id in record.decided:
        return f"decision {decision.id} was taken before; nothing more was done"
    if record.closed or record.confirmation:
        why = record.closed.why if record.closed else f"confirmed by {record.confirmed_by}"
        return f"too late: the action is already {record.state} ({why})"
    pending = record.decision
    if pending and not _overrides(decision, pending):
        return f"already decided: {pending.author} said {pending.verdict}, and it is being done"
    if decision.version is not None and decision.version != record.version:
        return (
            f"it answers version {decision.version}, and the record is at version "
            f"{record.version}: look at it again, then decide"
        )
    allowed = verdicts(record)
    if decision.verdict not in allowed:
        names = ", ".join(allowed) or "no decision"
        return f"in state {record.state} the action accepts {names}"
    if decision.verdict is Verdict.CONFIRM or record.doubt is None:
        return None
    if record.inherited and decision.version is None:
        # Temporal delivers what was said to the run before a reset to the new run again.
        return "it may have been said of an earlier run: name the version that you have seen"
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
    if new.verdict is Verdict.CONFIRM:
        return True
    if new.verdict is pending.verdict:
        return new.accept_duplicate and not pending.accept_duplicate
    return new.verdict is Verdict.ABANDON


def _promise(record: Facts, decision: Decision) -> str:
    """What happens now."""
    if decision.verdict is Verdict.CONFIRM:
        return "taken: the action is confirmed on your word"
    if record.doubt is None:
        return "taken: nothing more is sent"
    if not record.can_verify:
        return "taken, and carried out at once: this tool has no lookup"
    then = "sent again" if decision.verdict is Verdict.RETRY else "ended as not_found"
    return f"taken: the service is looked at once more, and if the effect is not there it is {then}"
