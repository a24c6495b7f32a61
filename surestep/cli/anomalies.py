"""`anomalies`: what contradicts a record."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from surestep.cli import page
from surestep.cli.exits import Exit, epilog
from surestep.cli.session import run, session
from surestep.client import Surestep
from surestep.errors import NoSuchStep
from surestep.operators import ORPHANED
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
    Exit.NO_SUCH_STEP,
    Exit.ANOMALY,
    Exit.NOT_SET_UP,
    more=f"{KINDS}\n\nWith --json, stdout is a list of objects, newest first:\n"
    "  step_id, tools, run, state, anomalies, started\n"
    "  watch_id  what --acknowledge takes; null while the step is open, and for\n"
    "            orphaned",
)


def anomalies(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    acknowledge: Annotated[
        str | None,
        typer.Option(metavar="WATCH", help="Take note of one: it is listed no more."),
    ] = None,
) -> None:
    """List what contradicts a record, newest first, until somebody has taken note of it."""
    run(_acknowledge(acknowledge) if acknowledge else _anomalies(as_json))


async def _acknowledge(watch_id: str) -> Exit:
    async with session() as surestep:
        found = await surestep.anomalies()
        if watch_id not in {one.watch_id for one in found}:
            raise NoSuchStep(_no_watch(watch_id, found))
        await surestep.acknowledge(watch_id)
    page.line(f"taken note of {watch_id}")
    return Exit.DONE


def _no_watch(given: str, found: list[StepSummary]) -> str:
    of_step = [one for one in found if one.step_id == given]
    if not of_step:
        return f"no anomaly waits under {given!r}: `python starter.py anomalies` lists them"
    ids = [one.watch_id for one in of_step if one.watch_id]
    if ids:
        return f"{given!r} is the step; acknowledge its watch, {' or '.join(ids)}"
    if ORPHANED in of_step[0].anomalies:
        return f"{given!r} is orphaned: submit the same step again, it finds out first"
    return f"{given!r} is still open: what is wrong with it is acknowledged after its end"


async def _anomalies(as_json: bool) -> Exit:
    async with session() as surestep:
        found = await surestep.anomalies()
        if as_json:
            fields = {"step_id", "tools", "run", "state", "anomalies", "started", "watch_id"}
            page.document([one.model_dump(mode="json", include=fields) for one in found])
        elif not found:
            page.aside("no record is contradicted")
        else:
            _table(surestep, found)
    return Exit.ANOMALY if found else Exit.DONE


def _table(surestep: Surestep, found: list[StepSummary]) -> None:
    now = datetime.now(UTC)
    rows = [
        (",".join(one.anomalies), page.age(one.started, now), ",".join(one.tools), one.step_id)
        for one in found
    ]
    page.columns([("ANOMALY", "AGE", "TOOL", "STEP"), *rows])
    for one in found:
        page.line()
        page.line(one.step_id, "bold")
        url = surestep.handle(one.watch_id or one.step_id).url
        if url:
            page.labelled("Web UI", url, indent=2)
        if ORPHANED in one.anomalies:
            page.line("  Nobody looks any more. Submit the same step again: it finds out first.")
        page.line("  To see what is known:")
        page.command(f"python starter.py show {one.step_id}")
        if one.watch_id:
            page.line("  Once somebody has seen to it:")
            page.command(f"python starter.py anomalies --acknowledge {one.watch_id}")
        elif ORPHANED not in one.anomalies:
            page.line("  The step is still open. After its end this waits to be acknowledged.")
