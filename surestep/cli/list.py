"""`list`: the steps that there are."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from surestep import visibility
from surestep.cli import page
from surestep.cli.exits import Exit, epilog
from surestep.cli.session import run, session
from surestep.errors import InvalidArguments
from surestep.evidence import State

EPILOG = epilog(
    Exit.DONE,
    Exit.NOT_SET_UP,
    more=(
        "With --json, stdout is a list of objects, newest first:\n"
        "  step_id, state, tools, run, started, unknown_since, needs_human,\n"
        "  anomalies"
    ),
)


def list_steps(
    state: Annotated[
        State | None, typer.Option(metavar="STATE", help="Only steps in this state.")
    ] = None,
    agent_run: Annotated[
        str | None, typer.Option("--run", help="Only steps of this run of an agent.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at the most.")] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List steps, newest first."""
    run(_list(state, agent_run, limit, as_json))


async def _list(state: State | None, agent_run: str | None, limit: int, as_json: bool) -> Exit:
    conditions = []
    if state:
        conditions.append(f"{visibility.STATE} = '{state}'")
    if agent_run:
        conditions.append(f"{visibility.RUN} = '{_quoted(agent_run)}'")
    async with session() as surestep:
        found = await surestep.steps(" AND ".join(conditions), limit=limit + 1)
    more, found = found[limit:], found[:limit]
    now = datetime.now(UTC)
    if as_json:
        page.document(
            [one.model_dump(mode="json", exclude={"watch_id", "task_queue"}) for one in found]
        )
    elif found:
        rows = [
            (one.state, page.age(one.started, now), ",".join(one.tools), one.run, one.step_id)
            for one in found
        ]
        page.columns([("STATE", "AGE", "TOOL", "RUN", "STEP"), *rows])
    else:
        page.aside("no steps")
    if more:
        page.aside(f"there are more than {limit}: raise --limit")
    return Exit.DONE


def _quoted(text: str) -> str:
    """Text as it stands between the quotes of a visibility query."""
    if '"' in text or "\\" in text:
        raise InvalidArguments(
            f"--run {text!r}: the server finds no text with a double quote or a backslash in it; "
            "list without --run"
        )
    return text.replace("'", "''")
