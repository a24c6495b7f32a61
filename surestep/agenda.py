"""When to look, to fence, to ask and to watch. Pure; whether to do it is `surestep.policy`."""

from datetime import datetime, timedelta
from hashlib import sha256

from surestep.facts import Facts

RETRY_CAP = timedelta(minutes=5)  # between attempts that provably did nothing
POLL_CAP = timedelta(minutes=1)  # between looks at an accepted operation, and between fences
LOOK_CAP = timedelta(hours=1)  # between looks otherwise
LONGEST_PAUSE = timedelta(days=1)  # between looks at what has been in doubt for weeks
AGAIN = timedelta(seconds=1)  # between the consecutive misses that a contract asks for


def next_look(record: Facts) -> datetime | None:
    """When to look next while in doubt; None: the tool cannot look."""
    if not record.can_verify or record.doubt is None:
        return None
    looks, first = record.looks, record.doubt.at
    if looks.count == 0 or looks.at is None or looks.started is None:
        return max(first, record.not_before or first) if record.accepted else first
    if record.hinted and record.hinted > looks.started:
        return record.hinted
    if looks.misses and not looks.failures:
        return looks.at + AGAIN
    at = looks.at + backoff(looks.count, _look_cap(record, looks.at - first)) * _spread(record)
    conclusive = record.conclusive_from
    if conclusive and looks.started < conclusive:
        return max(looks.at, min(at, conclusive))
    return at


def _look_cap(record: Facts, age: timedelta) -> timedelta:
    """Pauses grow with the age of the doubt, so that months of looking keep a short history."""
    cap = POLL_CAP if record.accepted and not record.asked else LOOK_CAP
    return min(max(cap, age / 20), LONGEST_PAUSE)


def _spread(record: Facts) -> float:
    """What an outage has put into step looks apart again: up to a quarter longer, differently for
    each action and each look, and the same whenever it is asked.

    Only once a person is asked: before that somebody waits for the answer.
    """
    if not record.asked:
        return 1.0
    drawn = sha256(f"{record.action_id} {record.looks.count}".encode()).digest()[0]
    return 1 + drawn / 1024


def next_fence(record: Facts) -> datetime | None:
    if not record.can_fence or record.fenced or record.doubt is None:
        return None
    if record.trace or record.keys_unknown or (record.accepted and not record.stop):
        return None  # it would cut off what is under way, or leave another key unfenced
    if record.can_verify and not record.looks.count:
        return None  # a look is cheaper, and the lost reply is the common case
    if record.fence_tried is None:
        return record.doubt.at
    return record.fence_tried + backoff(record.fence_failures, POLL_CAP)


def ask_at(record: Facts) -> datetime | None:
    """When a human is asked; None: somebody is being asked already, or nothing is in doubt."""
    doubt, contract = record.doubt, record.contract
    if record.asked or doubt is None:
        return None
    if record.patient_until:
        return record.patient_until
    if record.trace:
        return doubt.at
    if record.accepted and record.accepted_at:
        return max(
            record.accepted_at + contract.completes_within,
            doubt.at if record.can_verify else record.landing_until or doubt.at,
        )
    if not record.can_verify and (not record.can_fence or record.keys_unknown):
        return record.landing_until or doubt.at  # before that, nobody can know
    visible = doubt.at + (contract.visibility_lag or timedelta(0))  # what has landed by now
    return max(doubt.at, record.conclusive_from or visible) + contract.patience


def overdue_at(record: Facts) -> datetime | None:
    """When somebody else is told that the question still stands, or that what was decided is not
    carried out; None: never, or told already."""
    limit, decision = record.contract.overdue_after, record.decision
    since = decision.at if decision else record.asked
    if since is None or record.overdue or limit is None:
        return None
    return since + limit


def backoff(failures: int, cap: timedelta) -> timedelta:
    """1 s, 2 s, 4 s … up to `cap`."""
    return min(timedelta(seconds=2.0 ** min(max(failures - 1, 0), 30)), cap)
