"""`undo`: undo a confirmed action, in its step or after it."""

from datetime import timedelta
from typing import Annotated

import typer

from surestep.cli import page
from surestep.cli.decide import told, user
from surestep.cli.exits import Exit, epilog, exit_of
from surestep.cli.result import in_words
from surestep.cli.session import run, session
from surestep.cli.waiting import wait as wait_for
from surestep.decision import Ruling
from surestep.handle import StepPending

EPILOG = epilog(Exit.DONE, Exit.NO_SUCH_STEP, Exit.OPEN, Exit.NOT_TAKEN, Exit.NO_EFFECT)


def undo(
    target: Annotated[
        str,
        typer.Argument(
            metavar="STEP[/ACTION]", help="The step id; with several actions, also which."
        ),
    ],
    note: Annotated[str, typer.Option(help="Why. Recorded.")] = "",
    by: Annotated[
        str | None, typer.Option(help="Who wants it. Recorded; your user name by default.")
    ] = None,
    wait: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for the end of the undo.")
    ] = 60,
) -> None:
    """Undo a confirmed action, by its tool's own undo. Undoing it twice is undoing it once.

    An action that is unknown is never undone: decide it first.
    """
    run(_undo(target, note, user() if by is None else by, wait))


async def _undo(target: str, note: str, by: str, wait: float) -> Exit:
    async with session() as surestep:
        undoing = await surestep.undo(target, by=by, note=note)
        if isinstance(undoing, Ruling):
            return told(undoing)
        page.labelled("step", undoing.step_id)
        try:
            outcome = await wait_for(surestep, undoing, timedelta(seconds=wait))
        except StepPending as pending:
            page.aside(str(pending))
            return Exit.OPEN
    page.labelled("state", in_words(outcome.actions[0]), style=page.style_of(outcome.state))
    return exit_of(outcome)
