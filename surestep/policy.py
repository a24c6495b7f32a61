"""The decision: what to do next about one action. A pure function of its record and the time.

`next_move` returns
    Send     dispatch one attempt now, under the key of `generation`
    Verify   look at the service at `at`
    Fence    make the receiver refuse this key from now on
    Wait     until `until`, or until evidence arrives
    Ask      put the question to a human, once; looking goes on
    Escalate tell somebody else that the question has stood for too long
    Lapse    what a human said expired before it could be carried out
    Finish   the action has ended as `state`
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from surestep.agenda import RETRY_CAP, ask_at, backoff, next_fence, next_look, overdue_at
from surestep.consent import approval_question, needs_approval, retry_lapsed, said_until
from surestep.contract import Effect
from surestep.decision import Decision, Verdict
from surestep.evidence import Finding, State
from surestep.facts import Facts
from surestep.reasons import doubt_in_words


@dataclass(frozen=True)
class Send:
    number: int
    generation: int
    look_first: bool


@dataclass(frozen=True)
class Verify:
    at: datetime


@dataclass(frozen=True)
class Fence:
    at: datetime


@dataclass(frozen=True)
class Wait:
    until: datetime | None


@dataclass(frozen=True)
class Ask:
    why: str


@dataclass(frozen=True)
class Escalate:
    since: datetime


@dataclass(frozen=True)
class Finish:
    state: State
    why: str


@dataclass(frozen=True)
class Lapse:
    expired: datetime


Move = Send | Verify | Fence | Wait | Ask | Escalate | Lapse | Finish


def next_move(record: Facts, now: datetime) -> Move:
    """The one decision. Rules R1 to R18 of docs/guarantees.md stand beside the lines below."""
    if record.closed:
        return Finish(record.closed.state, record.closed.why)
    if record.in_flight:
        return Wait(None)
    if record.confirmation:
        return Finish(State.CONFIRMED, f"confirmed by {record.confirmed_by}")
    until = said_until(record)
    if until and until <= now:
        return Lapse(until)
    if record.doubt is None:
        return _nothing_in_doubt(record, now)
    if record.left:
        return Finish(State.UNKNOWN, record.left)
    if record.decision:
        return _while_it_holds(record, _obey(record, record.decision, now), now)
    return _in_doubt(record, now)


def _nothing_in_doubt(record: Facts, now: datetime) -> Move:
    """Nothing was applied, and nothing will be: R4 a, b and d."""
    decided = record.decision.verdict if record.decision else None
    if record.rejection and decided is not Verdict.RETRY:
        return Finish(State.REJECTED, record.rejection)
    if record.stop:
        return Finish(State.NOT_FOUND, record.stop)  # R14
    if record.left:
        return Finish(State.NOT_FOUND, record.left)  # meanwhile it was proven absent
    if record.decision and decided is Verdict.ABANDON:
        return Finish(State.NOT_FOUND, f"abandoned by {record.decision.author}")
    if record.absent and record.spent >= record.contract.sends and decided is not Verdict.RETRY:
        return Finish(
            State.NOT_FOUND, f"{record.spent} attempts may have left, and none was applied"
        )
    if record.begin_by and record.begin_by <= now and not record.spent:
        return Finish(State.NOT_FOUND, "the decision to undo expired before it could be begun")
    return _with_approval(record, now) if needs_approval(record, now) else _send(record, now)  # R18


def _with_approval(record: Facts, now: datetime) -> Move:
    """R19: a human says yes to exactly these arguments before anything is sent."""
    rule = record.contract.approval
    if record.asked is None or rule is None:
        return Ask(approval_question(record))
    expires = record.asked + rule.expires
    if now >= expires:
        why = f"nobody approved it until {expires:%Y-%m-%d %H:%M:%S %Z}; it was not run"
        return Finish(State.NOT_FOUND, why)
    overdue = overdue_at(record)
    if overdue and overdue <= now:
        return Escalate(record.asked)
    return Wait(min(overdue, expires) if overdue else expires)


def _in_doubt(record: Facts, now: datetime) -> Move:
    """An attempt may have happened: look, retry under the key, fence, ask; never stop looking."""
    look = next_look(record)
    if look and look <= now:
        return Verify(now)
    under_key = _may_send_under_key(record, now)
    if under_key and under_key <= now:
        return _send(record, now)
    fence = next_fence(record)
    if not under_key and fence and fence <= now:
        return Fence(now)
    ask = None if under_key else ask_at(record)
    if ask and ask <= now:
        return Verify(now) if _looked_in_vain(record, ask) else Ask(doubt_in_words(record))
    overdue = overdue_at(record)
    if record.asked and overdue and overdue <= now:
        return Escalate(record.asked)
    fence = None if under_key else fence
    times = [time for time in (look, under_key, fence, ask, overdue) if time]
    if not times:
        return Wait(None)
    return Verify(look) if look and look == min(times) else Wait(min(times))


def _obey(record: Facts, decision: Decision, now: datetime) -> Move:
    """A human decided, and the service can be asked: a fresh look comes first (R13)."""
    if decision.verdict is Verdict.CONFIRM:
        return Verify(now)  # whatever it sees, the record knows what follows from it
    after = record.look_after or now
    if not record.can_verify:
        if now < after:
            return Wait(after)
    elif not _freshly_missed(record):
        return Verify(max(now, after, next_look(record) or now))
    fence = next_fence(record)
    if fence and record.fence_tried is None:
        return Fence(now)  # with it, the human's word is not even needed
    if decision.verdict is Verdict.ABANDON:
        seen = "a fresh look did not find it" if record.can_verify else "the service is blind"
        return Finish(State.NOT_FOUND, f"abandoned by {decision.author}; {seen}")
    if retry_lapsed(record, now):
        return Ask(f"{decision.author} said retry too long ago to begin it now")  # R19
    return _send(record, now)  # R4 e


def _while_it_holds(record: Facts, move: Move, now: datetime) -> Move:
    """What a human said is not waited on for longer than it holds, nor silently for long."""
    match move:
        case Verify(at=at) if at > now:
            ends = at
        case Wait(until=at):
            ends = at or datetime.max.replace(tzinfo=now.tzinfo)
        case _:
            return move
    until, overdue = said_until(record), overdue_at(record)
    if overdue and overdue <= now:
        return Escalate(record.asked or overdue)
    first = min(time for time in (ends, until, overdue) if time)
    return move if first == ends else Wait(first)


def _freshly_missed(record: Facts) -> bool:
    """Where absence can be proven, nothing less than the proof will do."""
    looks, after, decision = record.looks, record.look_after, record.decision
    if decision is None or after is None or looks.started is None or looks.started < after:
        return False
    if decision.accept_duplicate and looks.finding is not Finding.PENDING:
        return True
    missed = looks.finding in (Finding.NOT_FOUND, Finding.REJECTED)
    return record.conclusive_from is None and missed


def _send(record: Facts, now: datetime) -> Move:
    if record.not_before and now < record.not_before:
        return Wait(record.not_before)
    contract = record.contract
    # R2: a new key only where the old one provably applied nothing and would be refused for ever.
    spent_key = record.fenced or (
        record.absent and record.spent > 0 and contract.key and contract.key.stores_failures
    )
    return Send(
        number=record.attempts + 1,
        generation=record.generation + 1 if spent_key else record.generation,
        look_first=(
            contract.look_first
            and contract.effect is not Effect.READ
            and contract.key is None
            and record.can_verify
            and record.spent == 0
        ),
    )


def _may_send_under_key(record: Facts, now: datetime) -> datetime | None:
    """R4 c: from when on the same key may be sent again; None: it may not.

    No attempt may commit after the service has forgotten the first one.
    """
    contract, doubt = record.contract, record.doubt
    if contract.key is None or doubt is None or record.key_since is None or record.key_dead:
        return None
    if record.fenced or record.trace or record.accepted or record.stop or record.rejection:
        return None
    if record.keys_unknown:
        return None
    if record.spent >= contract.sends or (record.can_verify and not record.looks.count):
        return None
    if record.needs_approval and record.approval is None:
        return None  # R19: what was sent before is not known, so neither is who approved it
    at = max(now, doubt.at + backoff(record.spent, RETRY_CAP), record.not_before or now)
    last_commit = at + contract.dispatch_limit + contract.in_flight_bound
    return at if last_commit < record.key_since + contract.key.lifetime else None


def _looked_in_vain(record: Facts, ask: datetime) -> bool:
    """R12: nobody is asked on the strength of a look that began before the patience was over.

    It may have died with its worker, or be as old as half the patience. One that begins now says
    more.
    """
    return record.looks.started is not None and record.looks.started < ask


def next_watch(record: Facts, now: datetime) -> Verify | None:
    """R17: the next look at an action that has ended and may yet be contradicted; None: none."""
    until = record.watch_until
    if until is None or not record.can_verify or record.closed is None or now >= until:
        return None
    since = record.looks.at if record.looks.at and record.looks.at > record.closed.at else None
    elapsed = (since or record.closed.at) - record.closed.at
    return Verify(min(until, (since or record.closed.at) + max(timedelta(minutes=1), elapsed)))


def may_compensate(record: Facts) -> bool:
    """R15: only what is confirmed, and only once, is undone."""
    return record.state is State.CONFIRMED and not any(
        anomaly.kind == "duplicate" for anomaly in record.anomalies
    )
