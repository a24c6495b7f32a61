"""The report: what was survived, the story of what was not, and the last line."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tests.chaos.case import Case
from tests.chaos.fleet import Struck
from tests.chaos.judgement import Violation, Wrong, spoilt
from tests.chaos.plan import FREEZES, SERVER, Blow

AROUND: Final = timedelta(seconds=20)
COSTS: Final = {
    "attempts lost before they sent": "lost before it sent anything",
    "attempts lost after they began to send": "lost after it began to send",
    "attempts refused their mark": "over before it was sent",
    "attempts that woke up too late to send": "woke up too late",
    "attempts cut off by a drain": "the worker was shut down",
    "attempts that no worker took in time": "no worker took it in time",
    "looks that did not end": "the lookup did not end",
    "connections refused": "ConnectError",
}
"""What blows did to actions, by the words of their records."""


@dataclass(frozen=True)
class Ended:
    """A whole run."""

    seed: int
    cases: Sequence[Case]
    struck: Sequence[Struck]

    def count(self, *blows: Blow) -> int:
        return sum(one.planned.blow in blows for one in self.struck)


def last_line(ended: Ended, violations: Sequence[Violation]) -> str:
    """Counts actions, so that one with two violations of a kind counts once."""
    wrong = Counter(kind for kind, _ in {(one.wrong, one.case.action_id) for one in violations})
    totals: Mapping[str, int] = {
        "actions": len(ended.cases),
        "kills": ended.count(Blow.KILL),
        "freezes": ended.count(*FREEZES),
        "server_restarts": ended.count(*SERVER),
        Wrong.DUPLICATE: wrong[Wrong.DUPLICATE],
        Wrong.FALSE_STATE: wrong[Wrong.FALSE_STATE],
        Wrong.STUCK: wrong[Wrong.STUCK],
        "asked": sum(bool(case.asked) for case in ended.cases),
        Wrong.AVOIDABLE: wrong[Wrong.AVOIDABLE],
        "seed": ended.seed,
    }
    return json.dumps(totals)


def table(ended: Ended) -> str:
    """Faults by kind: how many actions met them, and how those ended."""
    rows: list[tuple[str, ...]] = [("fault", "actions", "confirmed", "no effect", "asked")]
    rows += [_row(name, cases) for name, cases in _by_fault(ended.cases)]
    rows += [_row("every action", ended.cases)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        f"{row[0]:<{widths[0]}}"
        + "".join(f"  {text:>{width}}" for text, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
    kept = sum(spoilt(case, ended.struck) for case in ended.cases)
    last = max((one.over for one in ended.struck if one.over), default=None)
    calm = sum(last is not None and case.started > last for case in ended.cases)
    lines += ["", f"{kept:5} were asked about because every look that could tell was spoilt"]
    lines += [f"{calm:5} were started after the last blow, because the machine was slow"]
    lines += ["", *(f"{ended.count(blow):5} × {blow}" for blow in Blow), ""]
    told = Counter(dict.fromkeys(COSTS, 0))
    for case in ended.cases:
        for line in case.outcome.evidence if case.outcome else ():
            told.update({name: line.count for name, text in COSTS.items() if text in line.text})
    return "\n".join([*lines, *(f"{count:5} {name}" for name, count in told.items())])


def _by_fault(cases: Sequence[Case]) -> Iterator[tuple[str, list[Case]]]:
    for name in sorted({fault for case in cases for fault in case.met}):
        yield name, [case for case in cases if name in case.met]
    yield "none", [case for case in cases if not case.met]


def _row(name: str, cases: Sequence[Case]) -> tuple[str, ...]:
    confirmed = sum(case.state == "confirmed" for case in cases)
    without = sum(case.state in ("not_found", "rejected") for case in cases)
    asked = sum(bool(case.asked) for case in cases)
    return name, *(str(number) for number in (len(cases), confirmed, without, asked))


def story(violation: Violation, struck: Sequence[Struck]) -> str:
    """Everything that is known about an action, in order of time, with what befell the workers."""
    case = violation.case
    lines = case.outcome.evidence if case.outcome else ()
    told = [(line.at, f"record  {line.text}" + _times(line.count)) for line in lines]
    told += [(one.at, f"LEDGER  {one.id} of {one.key}, {one.body}") for one in case.effects]
    told += [
        (one.at, f"request {one.method} {one.path} {one.key}; {one.fault or 'honest'}")
        for one in case.requests
    ]
    since = case.started - AROUND
    until = max((at for at, _ in told), default=case.started) + AROUND
    told += [(one.since, f"blow    {one}") for one in struck if since <= one.since <= until]
    told.sort(key=lambda one: one[0])
    head = f"{violation.wrong}: {case.action_id}: {violation.why}\n  planned as {case.planned}"
    state = case.outcome.state if case.outcome else "nothing known"
    return "\n".join(
        [head, f"  stands as {state}", *(f"  {at:%H:%M:%S.%f} {text}" for at, text in told)]
    )


def _times(count: int) -> str:
    return f" (× {count})" if count > 1 else ""
