"""`check`: a tool's promises against the sandbox of its service."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console

from surestep.cli import page
from surestep.cli.exits import Exit, epilog
from surestep.cli.session import run
from surestep.cli.start import read_arguments
from surestep.settings import Settings
from surestep.toolbox import find_tool
from surestep.vault import folder

if TYPE_CHECKING:
    from surestep.conformance import Report

SHAPE: Final = """\
With --json, stdout is one object (stdout is empty after an error):
  tool, run  the run is in every key that was sent: surestep-check/RUN/…
  ok         whether no promise was seen broken
  rows       a list, one for every promise, in a fixed order, of
    promise  response_proves same_effect sight visibility_lag strangers
             key key_at_once key_content refusal fence fence_existing
             compensate verify_compensation repeatable one_send
             key_lifetime in_flight redelivery
    says     the promise in words
    done     what the check did; empty where it did nothing
    seen     what came of it, or why it was not tested
    verdict  kept, broken or not tested
    remedy   what to change; empty where nothing is broken
  effects    how many are known to have been made
  undone     how many of them were compensated
  left       what is left behind, or may be: a list of key, id (or null)"""

EPILOG = epilog(Exit.DONE, Exit.BROKEN, Exit.NOT_CHECKED, more=SHAPE)


@dataclass(frozen=True)
class _Order:
    tool: str
    arguments: dict[str, Any]
    sandbox: bool
    options: Mapping[str, Any]


def check_tool(
    tool: Annotated[
        str,
        typer.Argument(
            metavar="TOOL",
            help="An import string, package.module:tool, or a name in SURESTEP_TOOLS.",
        ),
    ],
    args: Annotated[
        str,
        typer.Option(
            help="Arguments that the sandbox accepts: a JSON object, @FILE that holds one, or -."
        ),
    ] = "{}",
    sandbox_yes: Annotated[
        bool,
        typer.Option(
            "--sandbox-yes", envvar="SANDBOX_YES", help="The service is a sandbox: have effects."
        ),
    ] = False,
    other_args: Annotated[
        str | None,
        typer.Option(help="Other arguments, for a used key; by default one is varied."),
    ] = None,
    refused_args: Annotated[
        str | None, typer.Option(help="Arguments that the sandbox refuses, such as a bad card.")
    ] = None,
    base_url_env: Annotated[
        str | None,
        typer.Option(
            metavar="VARIABLE",
            help="From where the tool reads its base URL at every send, to put a recorder in "
            "front; a declared HttpTool needs none.",
        ),
    ] = None,
    patience: Annotated[
        float,
        typer.Option(min=0, metavar="SECONDS", help="How long to look beyond the promised lag."),
    ] = 30,
    skip: Annotated[
        list[str] | None,
        typer.Option(metavar="PROMISE", help="Leave a promise out; may be repeated."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Compare what a tool's contract promises with what its sandbox does. Has real effects.

    Without --sandbox-yes it says what it would do, and does nothing. What it is doing is on
    stderr.
    """
    order = _Order(
        tool,
        read_arguments(args),
        sandbox_yes,
        {
            "other": other_args and read_arguments(other_args),
            "refused": refused_args and read_arguments(refused_args),
            "base_url_variable": base_url_env,
            "patience": timedelta(seconds=patience),
            "skip": _promises(skip or []),
        },
    )
    run(
        _check(order, as_json),
        interrupted="what the check may have left behind is named above; it sends nothing more",
    )


async def _check(order: _Order, as_json: bool) -> Exit:
    from surestep.conformance import CannotCheck, check  # no other command needs an HTTP client

    tool = find_tool(order.tool, lambda: Settings.from_environment().tools)
    secrets = Settings.from_environment().secrets
    vault = folder(secrets) if secrets else None
    try:
        report = await check(
            tool,
            order.arguments,
            sandbox=order.sandbox,
            say=page.aside,
            vault=vault,
            **order.options,
        )
    except CannotCheck as error:
        page.aside(f"error: {error}")
        return Exit.NOT_CHECKED
    if as_json:
        page.document(report.document())
    else:
        _print(report)
    return Exit.DONE if report.ok else Exit.BROKEN


def _print(report: "Report") -> None:
    from surestep.conformance.table import rendered

    console = Console(highlight=False, markup=False, emoji=False)
    if console.is_terminal:
        console.print(rendered(report))
    else:
        typer.echo(str(report), nl=False)


def _promises(names: list[str]) -> list[str]:
    from surestep.conformance import Promise

    known = [str(promise) for promise in Promise]
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"--skip {name}: the promises are {', '.join(known)}")
    return names
