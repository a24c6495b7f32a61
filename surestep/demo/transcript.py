"""What people watch: titles, evidence as it comes, and verdicts. Scenes may talk at once."""

from datetime import timedelta
from typing import Final

from rich.console import Console, RenderableType
from rich.text import Text

from surestep.demo.table import Row

WIDTH: Final = 100
COLOURS: Final = ("cyan", "magenta", "yellow", "blue", "green")
INDENT: Final = " " * 4


class Transcript:
    """Prints line by line, so that it reads the same in a terminal and in a log."""

    def __init__(self, *, to_stderr: bool) -> None:
        self._console = Console(stderr=to_stderr, highlight=False)
        if not self._console.is_terminal or self._console.width > WIDTH:
            self._console.width = WIDTH

    def say(self, text: str, style: str = "dim") -> None:
        self._line(Text(text, style))

    def show(self, what: RenderableType) -> None:
        self._console.print(what)

    def title(self, number: int, title: str, how: str) -> None:
        self._line(Text())
        self._line(Text.assemble(_tag(number), (title, "bold")))
        self._line(Text.assemble(_tag(number), (how, "dim")))

    def evidence(self, number: int, after: timedelta, text: str) -> None:
        seconds = f"+{after.total_seconds():4.1f} s  "
        self._line(Text.assemble(_tag(number), (seconds, "dim"), text))

    def aside(self, number: int, text: str, style: str = "italic") -> None:
        """What happens outside the record."""
        self._line(Text.assemble(_tag(number), " " * 9, (text, style)))

    def verdict(self, row: Row) -> None:
        effects = f"{row.effects} effect{'' if row.effects == 1 else 's'} in the ledger"
        mark = ("right: ", "bold green") if row.right else ("WRONG: ", "bold red")
        self._line(Text.assemble(_tag(row.number), mark, f"{row.state} {row.settled}; {effects}"))
        for why in row.wrong:
            self._line(Text.assemble(_tag(row.number), "       ", (why, "red")))

    def _line(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True)  # a command must survive being copied


def _tag(number: int) -> tuple[str, str]:
    return f"{number} │ ", COLOURS[(number - 1) % len(COLOURS)]
