"""`demo`: the scripted failures, against an embedded server."""

from typing import Annotated

import typer

from surestep.cli import page
from surestep.cli.exits import Exit, epilog
from surestep.settings import Settings, SettingsError

EPILOG = epilog(Exit.DONE)


def demo(
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave server, service and worker up until Ctrl-C.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print for machines: table and totals, one JSON a line.")
    ] = False,
) -> None:
    """Play ways to lose an answer against a real server, and count the effects."""
    from surestep.demo import main  # nothing else needs the demo's world

    try:
        Settings.from_environment()
    except SettingsError as error:
        page.aside(f"error: {error}")
        raise typer.Exit(Exit.INVALID) from None
    raise typer.Exit(main(keep=keep, as_json=as_json))
