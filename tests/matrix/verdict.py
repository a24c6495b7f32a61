"""The judgement: totals of what must not be, and of what could not be known."""

from collections.abc import Sequence
from dataclasses import dataclass

from surestep import State

from .cell import Result

ENDED_WITHOUT = (State.NOT_FOUND, State.REJECTED)


@dataclass(frozen=True)
class Totals:
    """The last line of the matrix; cells whose hypotheses hold, and nothing else."""

    cells: int
    duplicates: int
    false_confirmed: int
    false_not_found: int
    unknown_avoidable: int
    unknown_unavoidable: int


def totals(results: Sequence[Result]) -> Totals:
    held = [one for one in results if not one.cell.broken]
    asked = [one for one in held if one.asked]
    return Totals(
        cells=len(held),
        duplicates=sum(one.effects > 1 for one in held),
        false_confirmed=sum(one.state is State.CONFIRMED and not one.effects for one in held),
        false_not_found=sum(one.state in ENDED_WITHOUT and one.effects > 0 for one in held),
        unknown_avoidable=sum(one.cell.way is not None for one in asked),
        unknown_unavoidable=sum(one.cell.way is None for one in asked),
    )


def violations(result: Result) -> list[str]:
    """What is wrong with a cell, in words. `rejected` counts as `not_found`: nothing happened."""
    found = []
    cell, state, effects = result.cell, result.state, result.effects
    if state is None:
        found.append("it did not settle, although a human answered")
    contents = {(one.key, one.sha256) for one in result.requests}
    if len(contents) != len({one.key for one in result.requests}):
        found.append("one key came with several contents")
    if cell.broken:
        return found
    if effects > 1:
        found.append(f"{effects} effects")
    if state is State.CONFIRMED and not effects:
        found.append("confirmed without an effect")
    if state in ENDED_WITHOUT and effects:
        found.append(f"{state} with an effect")
    if result.asked and cell.way:
        found.append(f"a human was asked, and {cell.way} would have told")
    if state and not result.asked and cell.way is None:
        found.append(f"{state} without a human, and by the theory nobody could know")
    return found
