"""The judgement: intentions against the ledger, and questions against what could be known."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from surestep import State
from surestep.testing.faults import Commit, write_fault
from surestep.testing.ledger import RequestRow
from tests.chaos.case import Case
from tests.chaos.fleet import Struck
from tests.chaos.kinds import PATIENCE, SENDS
from tests.matrix.rows import Row
from tests.matrix.theory import Told, Way, told

BEFORE, AFTER = timedelta(seconds=1), timedelta(seconds=5)
"""A blow so close to a request may have cost its answer, or the report of it."""

CONSEQUENCES: Final = timedelta(seconds=12)
"""What a worker took along is given up after 8 to 10 s, and handed to another one."""

HEARD_OF_WITHIN: Final = timedelta(seconds=18)
"""An attempt's 3 s, the 5 s of a look before it and 5 s of grace, its deadline and a margin."""

HAPPENED: Final = (State.CONFIRMED,)
HAD_NO_EFFECT: Final = (State.NOT_FOUND, State.REJECTED)
TRUE_LOOKS: Final = (None, "lookalike")  # faults of a look that shows the truth all the same


class Wrong(StrEnum):
    DUPLICATE = "duplicates"
    FALSE_STATE = "false_states"
    STUCK = "stuck"
    AVOIDABLE = "asked_avoidable"
    RULE = "broken_rules"


@dataclass(frozen=True)
class Violation:
    wrong: Wrong
    case: Case
    why: str


def judge(cases: Sequence[Case], struck: Sequence[Struck]) -> list[Violation]:
    """Everything that must not be."""
    by_id = {case.action_id: case for case in cases}
    found = []
    for case in cases:
        before = by_id.get(case.before or "")
        found += [Violation(wrong, case, why) for wrong, why in _wrong(case, before, struck)]
    return found


def _wrong(case: Case, before: Case | None, struck: Sequence[Struck]) -> list[tuple[Wrong, str]]:
    found, effects = [], len(case.effects)
    if case.state is None:
        found.append((Wrong.STUCK, case.why or "it did not settle"))
    if effects > 1:
        found.append((Wrong.DUPLICATE, f"{effects} effects"))
    if case.state in HAPPENED and not effects:
        found.append((Wrong.FALSE_STATE, f"{case.state} without an effect"))
    if case.state in HAD_NO_EFFECT and effects:
        found.append((Wrong.FALSE_STATE, f"{case.state} with an effect"))
    if case.outcome and case.outcome.anomalies and effects < 2:
        kinds = ", ".join(one.kind for one in case.outcome.anomalies)
        found.append((Wrong.FALSE_STATE, f"{kinds} reported of {effects} effects"))
    if case.alarm:
        found.append((Wrong.FALSE_STATE, case.alarm))
    ways = {way for asked in case.asked if (way := avoidable(case, asked, struck))}
    if ways:
        found.append((Wrong.AVOIDABLE, f"a human was asked, and {', '.join(sorted(ways))} told"))
    return [*found, *((Wrong.RULE, why) for why in _broken_rules(case, before))]


def _broken_rules(case: Case, before: Case | None) -> list[str]:
    """R2, and R16 as far as the ledger shows it."""
    found = []
    contents = {(one.key, one.sha256) for one in case.writes}
    if len(contents) != len({one.key for one in case.writes}):
        found.append("one key came with several contents (R2)")
    first = min((one.at for one in case.writes), default=None)
    if before and first and not any(one.at < first for one in before.effects):
        found.append("it was sent before the action before it had its effect (R16)")
    return found


def avoidable(case: Case, asked: datetime, struck: Sequence[Struck]) -> Way | None:
    """By what the truth could have been known when a human was asked; None: nobody could.

    Said from the contract, the ledger and the blows, never from what Surestep concluded.
    """
    kind, since = case.planned.kind, asked - timedelta(seconds=PATIENCE)
    answers = [_told(case, one) for one in case.writes if one.at < asked]
    if kind.keyed and _key_tells(case, answers):
        return Way.KEY
    unhindered = since > case.started and not _trouble(since, asked, struck)
    if kind.service.fences and (unhindered or _heard(case.fences, asked, struck)):
        return Way.FENCE
    if kind.looks:
        looks = [one for one in case.looks if one.fault in TRUE_LOOKS and one.at < asked]
        if _heard([one for one in looks if _hits(case, one)], asked, struck):
            return Way.HIT
        if _heard([one for one in looks if _misses_for_good(case, one)], asked, struck):
            return Way.MISS
        blind = any(one.fault not in TRUE_LOOKS for one in case.looks if since < one.at < asked)
        if unhindered and not blind and (kind.promised or _visible(case, since)):
            return Way.HIT if _visible(case, since) else Way.MISS
    if not {None, Told.ACCEPTED} & set(answers) and not _trouble(case.started, asked, struck):
        return Way.ANSWER
    return None


def spoilt(case: Case, struck: Sequence[Struck]) -> bool:
    """Whether a human was asked who would not have been, had faults and blows spared the looks."""
    kind = case.planned.kind
    can_tell = kind.service.fences or (kind.looks and kind.promised)
    return any(
        can_tell or (kind.looks and _visible(case, asked - timedelta(seconds=PATIENCE)))
        for asked in case.asked
        if not avoidable(case, asked, struck)
    )


def _told(case: Case, write: RequestRow) -> Told | None:
    return told(case.planned.kind, case.planned.style, Row(write.fault or "honest"))


def _key_tells(case: Case, answers: Sequence[Told | None]) -> bool:
    """Whether one more request under the key may be sent, and is answered with the truth."""
    # A refusal or an acceptance is not repeated, and an acceptance is what the key then replays.
    queued = (Commit.QUEUED, Commit.QUEUED_IN_VAIN)
    kept = any(write_fault(one.fault or "honest").fault.commit in queued for one in case.writes)
    return case.in_doubt < SENDS and not kept and not {Told.REFUSED, Told.ACCEPTED} & set(answers)


def _hits(case: Case, look: RequestRow) -> bool:
    return _visible(case, look.at)


def _visible(case: Case, at: datetime) -> bool:
    lag = timedelta(seconds=case.planned.kind.lag)
    return any(one.at + lag < at for one in case.effects)


def _misses_for_good(case: Case, look: RequestRow) -> bool:
    """Whether a look came so late that its miss is a proof, whatever became of the attempt."""
    kind, last = case.planned.kind, max((one.at for one in case.writes), default=None)
    settles = kind.contract.settles_after
    if last is None or settles is None or last > look.at:
        return False
    return not case.effects and look.at > last + HEARD_OF_WITHIN + settles


def _heard(requests: Sequence[RequestRow], asked: datetime, struck: Sequence[Struck]) -> bool:
    """Whether one of these was made before the question, and nothing kept its worker from telling.

    A worker that sleeps all the time makes no request, so only the ends of its sleep count.
    """
    moments = [moment for one in struck for moment in (one.since, one.over) if moment]
    return any(
        one.at < asked
        and not any(one.at - BEFORE <= moment <= one.at + AFTER for moment in moments)
        for one in requests
    )


def _trouble(since: datetime, until: datetime, struck: Sequence[Struck]) -> bool:
    """Whether any blow lasted, or still had its consequences, in that time."""
    return any(
        one.since <= until and (one.over is None or one.over + CONSEQUENCES >= since)
        for one in struck
    )
