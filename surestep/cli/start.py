"""`start`: perform a step, or attach to it, and print its outcome."""

import json
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from surestep.cli import document, page, result
from surestep.cli.exits import Exit, epilog, exit_of
from surestep.cli.session import run, session
from surestep.cli.view import look
from surestep.cli.waiting import wait
from surestep.cli.workers import polled, start_one
from surestep.handle import StepPending
from surestep.outcome import StepOutcome
from surestep.settings import Settings
from surestep.tool import Action
from surestep.toolbox import find_tool

EPILOG = epilog(
    Exit.DONE,
    Exit.CONFLICT,
    Exit.OPEN,
    Exit.REJECTED,
    Exit.NO_EFFECT,
    Exit.ANOMALY,
    Exit.ENDED,
    Exit.LEFT_UNKNOWN,
    more=document.SHAPE,
)


def start(
    step: Annotated[
        str,
        typer.Argument(metavar="STEP", help="The step id. It names the intent: refund/order-7781."),
    ],
    tool: Annotated[
        str,
        typer.Argument(
            metavar="TOOL",
            help="An import string, package.module:tool, or a name in SURESTEP_TOOLS.",
        ),
    ],
    args: Annotated[
        str,
        typer.Option(help="The arguments: a JSON object, @FILE that holds one, or - for stdin."),
    ] = "{}",
    name: Annotated[
        str | None, typer.Option(help="The action's name; the tool's name by default.")
    ] = None,
    agent_run: Annotated[str, typer.Option("--run", help="The agent's run, for lists.")] = "",
    label: Annotated[str, typer.Option(help="What a person reads in lists.")] = "",
    within: Annotated[
        float | None,
        typer.Option(min=0, metavar="SECONDS", help="Longest wait; however long by default."),
    ] = None,
    wait_for_it: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until the step is settled.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Perform a step with one action, or attach to it, and print the outcome.

    The same step id with the same arguments attaches, however often it is called. While it waits
    it says on stderr what for.
    """
    order = _Order(step, tool, read_arguments(args), name, agent_run, label)
    limit = None if within is None else timedelta(seconds=within)
    run(_start(order, wait_for_it, limit, as_json))


@dataclass(frozen=True)
class _Order:
    step_id: str
    tool: str
    arguments: dict[str, Any]
    name: str | None
    run: str
    label: str

    def action(self) -> Action:
        tool = find_tool(self.tool, lambda: Settings.from_environment().tools)
        action = tool.action(self.arguments)
        return action if self.name is None else action.named(self.name)


async def _start(order: _Order, wait_for_it: bool, within: timedelta | None, as_json: bool) -> Exit:
    action = order.action()
    async with session() as surestep:
        handle = await surestep.start(order.step_id, action, run=order.run, label=order.label)
        if not await polled(surestep.client, surestep.task_queue):
            page.aside(f"{start_one(surestep.task_queue)}; the step waits for it")
        if wait_for_it:
            try:
                return _print_settled(await wait(surestep, handle, within), handle.url, as_json)
            except StepPending as pending:
                page.aside(
                    f"{order.step_id} is still {pending.state}: do not repeat it under another id; "
                    "the same command waits on"
                )
        view = await look(surestep, order.step_id, ask_worker=wait_for_it)
    if view.outcome and not view.open:
        return _print_settled(view.outcome, view.url, as_json)
    if as_json:
        page.document(document.of_view(view))
    else:
        result.unsettled(view)
    return Exit.OPEN if wait_for_it else Exit.DONE


def _print_settled(outcome: StepOutcome, url: str | None, as_json: bool) -> Exit:
    if as_json:
        page.document(document.of_outcome(outcome, url))
    else:
        result.settled(outcome, url)
    return exit_of(outcome)


def read_arguments(text: str) -> dict[str, Any]:
    """The object that --args gives, names a file of, or leaves to stdin."""
    try:
        if text == "-":
            text = sys.stdin.read()
        elif text.startswith("@"):
            text = Path(text[1:]).read_text()
        arguments = json.loads(text)
    except OSError as error:
        raise typer.BadParameter(f"--args: {text[1:]}: {error.strerror}") from error
    except ValueError as error:
        raise typer.BadParameter(f"--args is not JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise typer.BadParameter(
            f"--args is a JSON {type(arguments).__name__}, not an object such as "
            '{"order": "7781"}'
        )
    return arguments
