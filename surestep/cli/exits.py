"""What the exit code of a command says; the table is printed in `--help`."""

import textwrap
from enum import IntEnum
from typing import Final

from surestep.evidence import State
from surestep.outcome import StepOutcome


class Exit(IntEnum):
    """How a command ended."""

    DONE = 0
    FAULT = 1
    INVALID = 2
    UNREACHABLE = 3
    NO_SUCH_STEP = 4
    CONFLICT = 5
    OPEN = 6
    NOT_TAKEN = 7
    REJECTED = 8
    NO_EFFECT = 9
    ANOMALY = 10
    ENDED = 11
    NOT_SET_UP = 12
    BROKEN = 13
    NOT_CHECKED = 14
    LEFT_UNKNOWN = 15
    UNSOUND = 16
    INTERRUPTED = 130


MEANINGS: Final[dict[Exit, str]] = {
    Exit.DONE: (
        "done; start: every action is confirmed; decide: the decision was taken; "
        "check: no promise is broken; doctor: there is no problem"
    ),
    Exit.FAULT: "a fault, with its traceback; demo: a row of the table is wrong",
    Exit.INVALID: "an argument, an option or a setting is wrong; nothing was sent",
    Exit.UNREACHABLE: "no Temporal server or namespace answers, or it refuses the login",
    Exit.NO_SUCH_STEP: "there is no such step, or retention has removed it",
    Exit.CONFLICT: "the step exists with other input; nothing was sent",
    Exit.OPEN: (
        "start: not settled within the limit, do not repeat it; "
        "decide: no worker answered, the decision waits for one"
    ),
    Exit.NOT_TAKEN: ("the decision was not taken: too late, stale, not accepted now, or you left"),
    Exit.REJECTED: "the service rejected an action and applied nothing of it",
    Exit.NO_EFFECT: "an action ended without an effect, or was undone",
    Exit.ANOMALY: (
        "settled, but with an anomaly that a person must look at; anomalies: there are some"
    ),
    Exit.ENDED: "the step was ended from outside; what it sent is not known",
    Exit.NOT_SET_UP: "the namespace is missing an attribute, or has another type: see setup",
    Exit.BROKEN: "check: a promise of the contract is broken",
    Exit.NOT_CHECKED: "check: the sandbox could not be used, so nothing can be said",
    Exit.LEFT_UNKNOWN: "a person said that nobody will know whether it happened; do not repeat it",
    Exit.UNSOUND: "doctor: there is a problem, which must be put right",
    Exit.INTERRUPTED: (
        "interrupted; start: the step goes on; check: what it may have left behind is on stderr"
    ),
}

_ALWAYS: Final = (Exit.FAULT, Exit.INVALID, Exit.UNREACHABLE, Exit.INTERRUPTED)

_SETTLED: Final = {
    State.CONFIRMED: Exit.DONE,
    State.REJECTED: Exit.REJECTED,
    State.NOT_FOUND: Exit.NO_EFFECT,
    State.COMPENSATED: Exit.NO_EFFECT,
}


def exit_of(outcome: StepOutcome) -> Exit:
    """The exit code that an outcome stands for."""
    if any(action.anomalies for action in outcome.actions):
        return Exit.ANOMALY
    if outcome.state is State.UNKNOWN and outcome.worst.ended:
        return Exit.LEFT_UNKNOWN
    return _SETTLED.get(outcome.state, Exit.OPEN)


def epilog(*codes: Exit, more: str = "") -> str:
    """The end of a command's help: `more` as it stands, and the codes that it can end with."""
    shown = sorted({*codes, *_ALWAYS}) if codes else list(Exit)
    lines = ["Exit codes:"]
    for code in shown:
        first, *rest = textwrap.wrap(MEANINGS[code], 70)
        lines += [f"  {code:>3}  {first}", *(f"       {line}" for line in rest)]
    # "\b" keeps the lines of a paragraph as they are.
    paragraphs = [part for part in more.split("\n\n") if part] + ["\n".join(lines)]
    return "\n\n".join(f"\b\n{part}" for part in paragraphs)
