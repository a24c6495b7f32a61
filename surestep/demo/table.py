"""The judge: what the ledger holds and the record says, against what was intended."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Final

from rich.box import SIMPLE
from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from surestep.evidence import State
from surestep.record import Record

RESPONSE: Final = "the service's response"
LOOKUP: Final = "a lookup"
HUMAN: Final = "the word of "  # … whoever it was


COLUMNS: Final[dict[str, JustifyMethod]] = {
    "#": "right",
    "scene": "left",
    "intended": "right",
    "effects": "right",
    "state": "left",
    "how it was settled": "left",
    "": "left",
}


@dataclass(frozen=True)
class Expected:
    """How a scene must end: once in the ledger, and settled like this.

    by        what confirms it, in the record's words
    attempts  how many requests that takes
    asked     whether a human is asked
    also      what becomes of the other calls of the scene
    """

    by: str
    attempts: int = 1
    asked: bool = False
    also: str = ""
    effects: int = 1
    state: State = State.CONFIRMED


@dataclass(frozen=True)
class Found:
    """How a scene did end. `effects` are counted in the ledger, under any key of the step."""

    record: Record | None
    effects: int
    also: str = ""
    failure: str = ""


@dataclass(frozen=True)
class Row:
    """One row of the final table; it is right where `wrong` is empty."""

    number: int
    scene: str
    step: str
    intended: int
    effects: int
    state: str
    settled: str
    asked: bool
    wrong: tuple[str, ...]

    @property
    def right(self) -> bool:
        return not self.wrong

    @property
    def duplicates(self) -> int:
        return max(self.effects - self.intended, 0)


def judge(number: int, scene: str, step: str, expected: Expected, found: Found) -> Row:
    """Compare; every difference is named."""
    record = found.record
    state, by, attempts, asked = "not played", "", 0, False
    if record:
        state, by, attempts = record.state.value, record.confirmed_by or "", record.attempts
        asked = bool(record.asked) or any(
            line.text.startswith("a human is asked") for line in record.log
        )
    differences = [
        ("effects in the ledger", expected.effects, found.effects),
        ("state", expected.state.value, state),
        ("confirmed by", expected.by, HUMAN if by.startswith(HUMAN) else by),
        ("attempts", expected.attempts, attempts),
        ("a human is asked", expected.asked, asked),
        ("the other calls", expected.also, found.also),
    ]
    wrong = [
        f"{what}: {want!r} expected, {got!r} found"
        for what, want, got in differences
        if want != got
    ]
    if record and record.anomalies:
        wrong += [f"anomaly: {anomaly.why}" for anomaly in record.anomalies]
    return Row(
        number=number,
        scene=scene,
        step=step,
        intended=expected.effects,
        effects=found.effects,
        state=state,
        settled=_settled(record, found.also),
        asked=asked,
        wrong=((found.failure,) if found.failure else ()) + tuple(wrong),
    )


def _settled(record: Record | None, also: str) -> str:
    if record is None:
        return "not at all"
    how = f"by {record.confirmed_by}" if record.confirmed_by else "not at all"
    if record.attempts > 1:
        how += f", attempt {record.attempts}"
    if any(line.text.startswith("proven absent") for line in record.log):
        how += ", absence proven first"
    return f"{how}; {also}" if also else how


def totals(rows: Sequence[Row], strays: int, took: timedelta) -> str:
    """The last line. `strays`: effects in the ledger that belong to no row."""
    return json.dumps(
        {
            "rows": len(rows),
            "right": sum(row.right for row in rows),
            "duplicates": sum(row.duplicates for row in rows) + strays,
            "asked": sum(row.asked for row in rows),
            "seconds": round(took.total_seconds(), 1),
        }
    )


def machine_readable(rows: Sequence[Row]) -> str:
    return json.dumps({"table": [asdict(row) | {"right": row.right} for row in rows]})


def rendered(rows: Sequence[Row]) -> Table:
    """The table for people, 100 columns at the most."""
    title = "What was intended, and what the ledger holds"
    table = Table(
        title=title, title_justify="left", box=SIMPLE, pad_edge=False, collapse_padding=True
    )
    for column, justify in COLUMNS.items():
        table.add_column(column, justify=justify, no_wrap=column == "scene")
    for row in rows:
        mark = Text("right", style="green") if row.right else Text("WRONG", style="bold red")
        cells = (row.number, row.scene, row.intended, row.effects, row.state, row.settled)
        table.add_row(*(Text(str(cell)) for cell in cells), mark)
    return table
