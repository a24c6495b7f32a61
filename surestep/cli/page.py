"""Output: results on stdout, everything else on stderr; 80 columns, colours only on a terminal."""

import json
import sys
import textwrap
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import typer
from rich.console import Console
from rich.text import Text

from surestep.evidence import State

WIDTH: Final = 80
LABEL: Final = 12

_STYLES: Final[dict[str, str]] = {
    State.CONFIRMED: "green",
    State.UNKNOWN: "bold red",
    State.REJECTED: "yellow",
    State.NOT_FOUND: "yellow",
    State.COMPENSATED: "yellow",
}

_results = Console(highlight=False, markup=False, emoji=False)
_asides = Console(stderr=True, highlight=False, markup=False, emoji=False)


def line(text: str = "", style: str = "") -> None:
    """One line of the result, never wrapped: it can be copied, cut and searched.

    It stays one: a line break in somebody else's words would forge the next.
    """
    _results.print(Text(printable(text).replace("\n", "\ufffd"), style), soft_wrap=True)


def aside(text: str) -> None:
    """What is no result: progress, complaints, where things are."""
    wrapped = textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
    _asides.print(Text(printable(wrapped)), soft_wrap=True)


def prompt(text: str) -> None:
    """A question, on stderr; the answer is typed behind it."""
    _asides.print(Text(printable(text)), end="", soft_wrap=True)


def wrong(text: str) -> typer.BadParameter:
    """The complaint about an argument or option."""
    room = WIDTH - len("Error: Invalid value: ")
    return typer.BadParameter(textwrap.fill(text, room, break_on_hyphens=False))


def document(value: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def labelled(label: str, text: str, *, indent: int = 0, style: str = "") -> None:
    """`label  text`, the text wrapped beside its label."""
    start = " " * indent + label.ljust(LABEL)
    width = WIDTH - len(start)
    first, *rest = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [
        ""
    ]
    # Each with a style of its own: the first would otherwise hold for the whole line.
    heading = Text().append(printable(start), "bold" if indent == 0 else "")
    _results.print(heading.append(printable(first), style), soft_wrap=True)
    for part in rest:
        line(" " * len(start) + part, style)


def columns(rows: Sequence[Sequence[str]]) -> None:
    """A table. The last column is as wide as it needs to be, so that ids stay whole."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        style = "bold" if number == 0 else style_of(row[0].partition(",")[0])
        line("  ".join(cells).rstrip(), style)


def style_of(state: str) -> str:
    """The colour of a state on a terminal."""
    return _STYLES.get(state, "")


def command(text: str, *, to_copy_from_stderr: bool = False) -> None:
    """A command to copy: broken before an option, with a backslash, where it is too long."""
    first, *options = text.split(" --")
    lines = ["  " + first]
    for option in options:
        if len(lines[-1]) + len(" --") + len(option) + len(" \\") > WIDTH:
            lines[-1] += " \\"
            lines.append("     ")
        lines[-1] += f" --{option}"
    console = _asides if to_copy_from_stderr else _results
    console.print(Text(printable("\n".join(lines))), soft_wrap=True)


def age(since: datetime, now: datetime) -> str:
    """How long ago, in the two units that matter."""
    passed = max(now - since, timedelta(0))
    minutes, seconds = divmod(int(passed.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}d {hours}h"
    if hours:
        return f"{hours}h {minutes}m"
    return f"{minutes}m {seconds}s" if minutes else f"{seconds}s"


def printable(text: str) -> str:
    """Text that cannot steer the terminal: a service's words end up here."""
    return "".join(char if char.isprintable() or char == "\n" else "\ufffd" for char in text)
