"""`doctor`: what is not as it must be, here and at the server."""

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from surestep.cli import page
from surestep.cli.exits import Exit, epilog
from surestep.cli.session import run

if TYPE_CHECKING:
    from surestep.doctor import Checkup, Finding

SHAPE: Final = """\
With --json, stdout is one object:
  ok        whether there is no problem; there may be warnings
  reached   whether a server answered: without one, much is not checked
  findings  a list, one or more for every check that was made, of
    check    what was looked at
    level    ok, warning or problem
    what     what is so
    meaning  what follows from it; empty where it is ok
    remedy   what to change; empty where it is ok"""

EPILOG = epilog(Exit.DONE, Exit.UNSOUND, more=SHAPE)

_STYLES: Final = {"ok": "green", "warning": "yellow", "problem": "bold red"}


def doctor(
    resubmitted_within: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="DAYS",
            help="How long after its first submission an agent may submit a step again: compared "
            "with how long the namespace remembers it.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Check settings, tools, server, workers, keys and people. It changes nothing, sends nothing.

    Run it with the variables of a worker, where a worker runs: clock, files and hosts are looked at
    from there. Tools are imported, as a worker imports them.
    """
    window = None if resubmitted_within is None else timedelta(days=resubmitted_within)
    run(_doctor(window, as_json), interrupted="nothing was changed", checked=False)


async def _doctor(window: timedelta | None, as_json: bool) -> Exit:
    from surestep.doctor import examine  # it knows everything, and other commands need to be quick

    checkup = await examine(os.environ, resubmitted_within=window)
    if as_json:
        page.document({"ok": checkup.ok, **checkup.model_dump(mode="json")})
    else:
        _print(checkup)
    if not checkup.reached:
        return Exit.UNREACHABLE
    return Exit.DONE if checkup.ok else Exit.UNSOUND


def _print(checkup: "Checkup") -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in ("", "check", "what is so, what it means, what to do"):
        table.add_column(heading, overflow="fold")
    for one in checkup.findings:
        style = _STYLES[one.level]
        table.add_row(Text(one.level, style), page.printable(one.check), _told(one))
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = page.WIDTH
    console.print(table)
    levels = [str(one.level) for one in checkup.findings]
    counts = ((levels.count(one), one) for one in ("problem", "warning"))
    page.line(", ".join(f"{count} {one}{'' if count == 1 else 's'}" for count, one in counts))


def _told(one: "Finding") -> Text:
    parts = [f"{one.what}."] if not one.what.endswith(".") else [one.what]
    parts += [part for part in (one.meaning, one.remedy and f"→ {one.remedy}") if part]
    return Text(page.printable("\n".join(parts)))
