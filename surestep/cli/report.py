"""`report`: what an agent run really did."""

from typing import Annotated

import typer

from surestep.agents.report import Report
from surestep.agents.report import report as report_of
from surestep.cli import page
from surestep.cli.exits import Exit, epilog
from surestep.cli.session import run, session
from surestep.settings import Settings
from surestep.tool import Tool
from surestep.toolbox import load_tools

EPILOG = epilog(
    Exit.DONE,
    Exit.OPEN,
    Exit.ANOMALY,
    more=(
        "With --json, stdout is one object:\n"
        "  run, at, tools, notes: what may be missing\n"
        "  deeds      a list of: step_id, action_id, tool, about, standing,\n"
        "             state, why, effect, receipt_id, anomalies\n"
        "  standing   done, undone, refused, without effect, open or unknown"
    ),
)


def report(
    agent_run: Annotated[str, typer.Argument(metavar="RUN", help="The agent run's name.")],
    tools: Annotated[
        list[str] | None,
        typer.Option(
            "--tool", metavar="TOOL", help="A tool that the agent has; those of SURESTEP_TOOLS."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Report what an agent run really did, what is open, and what was refused.

    Exit code 6 where something is open, 10 where a person must look into something.
    """
    run(_report(agent_run, tools or [], as_json))


async def _report(agent_run: str, names: list[str], as_json: bool) -> Exit:
    settings = Settings.from_environment()
    known: list[Tool | str] = list(load_tools(settings.tools)) if settings.tools else []
    async with session() as surestep:
        found = await report_of(surestep, agent_run, tools=[*names, *known])
    if as_json:
        page.document(found.model_dump(mode="json"))
    else:
        for line in found.text().splitlines():
            page.line(line)
    return _exit(found)


def _exit(found: Report) -> Exit:
    if found.anomalous:
        return Exit.ANOMALY
    return Exit.OPEN if any(one.effect for one in found.open) else Exit.DONE
