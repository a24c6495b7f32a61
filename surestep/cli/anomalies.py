"""`anomalies`: what contradicts a record."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from surestep.cli import page
from surestep.cli.exits import Exit, epilog
from surestep.cli.session import run, session
from surestep.summary import StepSummary

KINDS = (
    "Kinds:\n"
    "  duplicate     more than one effect of one action\n"
    "  late          an effect landed after the action had ended without one\n"
    "  contradicted  a person's word and the evidence disagree\n"
    "  orphaned      the step was ended from outside while an action was in doubt"
)
EPILOG = epilog(
    Exit.DONE,
    Exit.NOT_SET_UP,
    Exit.ANOMALY,
    more=f"{KINDS}\n\nWith --json, stdout is a list of objects, newest first:\n"
    "  step_id, tools, run, state, anomalies, started, watch_id",
)


def anomalies(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    acknowledge: Annotated[
        str | None,
        typer.Option(metavar="WATCH", help="Take note of one: it is listed no more."),
    ] = None,
) -> None:
    """List what contradicts a record, newest first, until somebody has taken note of it."""
    run(_anomalies(as_json, acknowledge))


async def _anomalies(as_json: bool, acknowledge: str | None) -> Exit:
    async with session() as surestep:
        if acknowledge:
            await surestep.acknowledge(acknowledge)
            page.aside(f"taken note of: {acknowledge}")
            return Exit.DONE
        found = await surestep.anomalies()
    if as_json:
        fields = {"step_id", "tools", "run", "state", "anomalies", "started", "watch_id"}
        page.document([one.model_dump(mode="json", include=fields) for one in found])
    elif not found:
        page.aside("no record is contradicted")
    else:
        _table(found)
    return Exit.ANOMALY if found else Exit.DONE


def _table(found: list[StepSummary]) -> None:
    now = datetime.now(UTC)
    rows = [
        (",".join(one.anomalies), page.age(one.started, now), ",".join(one.tools), one.step_id)
        for one in found
    ]
    page.columns([("ANOMALY", "AGE", "TOOL", "STEP"), *rows])
    page.line()
    for one in found:
        if one.watch_id:
            page.line("Once somebody has seen to it:")
            page.command(f"python starter.py anomalies --acknowledge {one.watch_id}")
        else:
            page.line("Nobody looks any more. Submit the same step again, it finds out first:")
            page.command(f"python starter.py show {one.step_id}")
