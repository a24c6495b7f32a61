"""What a check will do to the service, said before anything is done."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from surestep.conformance.promise import Promise
from surestep.tool import Tool


@dataclass(frozen=True)
class Plan:
    """`effects`: how many if every promise is kept; `sends`: how many at the most."""

    effects: int
    sends: int
    compensates: bool

    def __str__(self) -> str:
        undone = "compensates what it can" if self.compensates else "cannot undo them"
        made = f"{self.effects} real effect{'s' if self.effects > 1 else ''}"
        if self.sends > self.effects:
            made += f", up to {self.sends} if promises are broken,"
        return f"makes {made} and {undone}"


def plan(
    tool: Tool,
    skip: Collection[Promise],
    other: Mapping[str, Any] | None,
    refused: Mapping[str, Any] | None,
    variable: str | None,
) -> Plan:
    """Counts the executes of a check of this tool."""

    def done(promise: Promise, offered: bool) -> int:
        return int(offered and promise not in skip)

    keyed = tool.contract.key is not None
    twice = done(Promise.AT_ONCE, keyed)
    more = (
        done(Promise.KEY, keyed)
        + done(Promise.CONTENT, keyed and other is not None)
        + done(Promise.FENCE, tool.fence_with is not None)
        + done(Promise.REFUSAL, refused is not None)
        # They go to a recorder, unless the tool has read its base URL before.
        + 2 * done(Promise.REPEATABLE, variable is not None)
    )
    return Plan(
        effects=1 + twice,
        sends=1 + 2 * twice + more,
        compensates=tool.undo is not None and Promise.UNDO not in skip,
    )
