"""The report for people: a table 80 columns wide, and below it what to change."""

from collections.abc import Iterable
from io import StringIO
from typing import Final

from rich.box import SIMPLE
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from surestep.conformance.report import Judgement, Report, Row

WIDTH: Final = 80

_STYLES: Final = {
    Judgement.KEPT: "green",
    Judgement.BROKEN: "bold red",
    Judgement.NOT_TESTED: "yellow",
}


def text(report: Report) -> str:
    """The same without colours."""
    console = Console(file=StringIO(), width=WIDTH, highlight=False, markup=False, emoji=False)
    with console.capture() as capture:
        console.print(rendered(report))
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"


def rendered(report: Report) -> RenderableType:
    """What was tested as a table; then the remedies, what was not tested, and what is left."""
    tested = report.of(Judgement.KEPT, Judgement.BROKEN)
    parts: list[RenderableType] = [_tested(report, tested)]
    changes = _grouped((row.remedy, row.says) for row in report.broken)
    parts += [_line("change", said, "bold red") for said in changes]
    if report.broken:
        parts.append(Text())
    untested = _grouped((row.seen, row.says) for row in report.of(Judgement.NOT_TESTED))
    parts += [_line("not tested", said) for said in untested]
    parts += [Text(), _line("effects", _effects(report))]
    parts += [_line("left behind", _left(left.id, left.key)) for left in report.left]
    return Group(*parts)


def _tested(report: Report, rows: tuple[Row, ...]) -> Table:
    table = Table(
        title=f"{report.tool}: what is promised, and what was seen",
        title_justify="left",
        box=SIMPLE,
        pad_edge=False,
        collapse_padding=True,
        width=WIDTH,
    )
    table.add_column("promise", ratio=8)
    table.add_column("what was done", ratio=9)
    table.add_column("what was seen", ratio=10)
    table.add_column("verdict", no_wrap=True)
    for row in rows:
        verdict = row.verdict.upper() if row.verdict is Judgement.BROKEN else row.verdict
        cells = (_safe(row.says), _safe(row.done), _safe(row.seen))
        table.add_row(*cells, Text(verdict, _STYLES[row.verdict]))
    return table


def _grouped(said: Iterable[tuple[str, str]]) -> list[str]:
    """`promise; promise: reason` from pairs of reason and promise."""
    by_reason: dict[str, list[str]] = {}
    for reason, promise in said:
        by_reason.setdefault(reason, []).append(promise)
    return [f"{'; '.join(promises)}: {reason}" for reason, promises in by_reason.items()]


def _line(label: str, said: str, style: str = "") -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=12)
    grid.add_column(width=WIDTH - 13, overflow="fold")
    grid.add_row(Text(label, style or "bold"), _safe(said))
    return Padding(grid, 0)


def _effects(report: Report) -> str:
    if not report.effects and not report.left:
        return "none is left"
    undone = f", {report.undone} of them compensated" if report.undone else ""
    return f"{report.effects} made under surestep-check/{report.run}/…{undone}"


def _left(name: str | None, key: str) -> str:
    return f"{name}, key {key}" if name else f"perhaps one under the key {key}"


def _safe(said: str) -> Text:
    """Text that cannot steer the terminal: a service's words end up here."""
    return Text("".join(char if char.isprintable() else "\ufffd" for char in said))
