"""docs/matrix.md, from results; the same results give the same bytes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from surestep import State

from .cell import Result
from .columns import COLUMNS, Column
from .rows import ROWS, Row
from .tools import Style

PLACE: Final = Path(__file__).parents[2] / "docs" / "matrix.md"

LETTERS: Final = {State.CONFIRMED: "C", State.REJECTED: "R", State.NOT_FOUND: "N"}

HEAD: Final = """\
# The matrix

Every fault of the world against every kind of contract, on a real Temporal server with a real
worker, by tools of two styles. Written by `make matrix`; do not edit.

A cell shows how the action ended, first for the *naive* tool (plain `httpx` and
`raise_for_status`; a lookup that answers 404 or nothing is called `not_found`), then, after a
bar, for the *declared* one (`HttpTool`); one entry where both ended alike.

| entry | means |
|---|---|
| `C` | `confirmed`, with one effect in the ledger |
| `R`, `N` | `rejected`, `not_found`, with no effect in the ledger |
| `?C`, `?N` | first `unknown`: a human was asked, answered truthfully, and so it ended |
| `C2` | the ledger holds another number of effects than the state says |
| `C2!` | the same, and an anomaly was reported: `duplicate`, `late` or `contradicted` |
| – | the contract has no lookup that could fail |

The effects are counted after everything late has landed. Whether the truth could have been known
without the human is said by `tests/matrix/theory.py`, before anything is run. A fault's number
is seconds, a status or bytes; `∞` means that every request of its kind meets it, otherwise the
first request that writes does, and the first look after it. Without Δ and λ in the title,
the contract promises neither; `short life` promises Δ. Δ is {in_flight:g} s, a naive tool gives up
after {gives_up:g} s.
"""

BROKEN: Final = """\
## Where a hypothesis is broken

Here the service breaks what `guarantees.md` states, or what every client takes for granted. Nothing
is promised then, and these cells are in none of the totals; what became of them is told all the
same.
"""


def page(results: Sequence[Result], head: str) -> str:
    by_place = {(one.cell.column, one.cell.style, one.cell.row): one for one in results}
    held = {place: one for place, one in by_place.items() if not one.cell.broken}
    broken = {place: one for place, one in by_place.items() if one.cell.broken}
    parts = [head, _table(held, ROWS), BROKEN]
    reasons = sorted({one.cell.broken or "" for one in broken.values()}, key=_number)
    for reason in reasons:
        chosen = {place: one for place, one in broken.items() if one.cell.broken == reason}
        rows = [row for row in ROWS if any(place[2] == row for place in chosen)]
        parts += [f"### {reason}\n", _table(chosen, rows)]
    return "\n".join(parts)


Places = Mapping[tuple[Column, Style, Row], Result]


def _table(places: Places, rows: Sequence[Row]) -> str:
    columns = [one for one in COLUMNS if any(place[0] == one for place in places)]
    lines = [f"| fault | {' | '.join(one.title for one in columns)} |"]
    lines.append(f"|---|{'---|' * len(columns)}")
    for row in rows:
        entries = [_entry([places.get((column, one, row)) for one in Style]) for column in columns]
        if any(entry.strip("–") for entry in entries):
            lines.append(f"| `{row.name}` | {' | '.join(entries)} |")
    return "\n".join(lines) + "\n"


def _entry(results: Sequence[Result | None]) -> str:
    shown = ["–" if one is None else entry(one) for one in results]
    return shown[0] if len(set(shown)) == 1 else " ¦ ".join(shown)


def entry(result: Result) -> str:
    """`C`, `?N`, `C2!`; `…` for an action that did not settle."""
    letter = LETTERS.get(result.state, "…") if result.state else "…"
    expected = 1 if result.state is State.CONFIRMED else 0
    count = str(result.effects) if result.effects != expected else ""
    return f"{'?' * result.asked}{letter}{count}{'!' * bool(result.anomalies)}"


def _number(reason: str) -> tuple[bool, str]:
    return (not reason.startswith("H"), reason)
