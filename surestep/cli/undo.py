"""`undo`: undo a confirmed action, in its step or after it."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from surestep.cli import page
from surestep.cli.addressing import check, record_of, resolve
from surestep.cli.decide import decision_of, ended, send, user
from surestep.cli.exits import Exit, epilog, exit_of
from surestep.cli.keys import signing_key
from surestep.cli.result import in_words
from surestep.cli.ruling import told
from surestep.cli.session import run, session
from surestep.cli.waiting import wait as wait_for
from surestep.client import Surestep
from surestep.decision import Ruling, Verdict
from surestep.errors import NothingToUndo, UnknownTool
from surestep.handle import StepPending
from surestep.settings import Settings

EPILOG = epilog(
    Exit.DONE,
    Exit.NO_SUCH_STEP,
    Exit.OPEN,
    Exit.NOT_TAKEN,
    Exit.REJECTED,
    Exit.NO_EFFECT,
    Exit.ANOMALY,
    Exit.ENDED,
    Exit.LEFT_UNKNOWN,
)


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
        float, typer.Option(min=0, metavar="SECONDS", help="Longest wait for the undo's end.")
    ] = 60,
    key: Annotated[
        Path | None,
        typer.Option(help="Sign with this private key; SURESTEP_SIGNING_KEY by default."),
    ] = None,
) -> None:
    """Undo a confirmed action, by its tool's own undo. Undoing it twice is undoing it once.

    While the step is open this is the decision `undo`; afterwards it is a step of its own. An
    action that is unknown is never undone: decide it first.
    """
    run(_undo(target, note, user() if by is None else by, wait, key))


async def _undo(target: str, note: str, by: str, wait: float, key: Path | None) -> Exit:
    async with session() as surestep:
        step, action = await resolve(surestep, target)
        said = {"verdict": Verdict.UNDO, "action": action, "by": by, "note": note}
        decision = decision_of(said | {"id": uuid4().hex})
        if not ended(step):
            await check(surestep, step.id, action)
            needed = signing_key(Settings.from_environment(), key)
            record = await record_of(surestep, step, action) if needed else None
            return await send(surestep, step, decision, record, key)
        return await _undo_what_ended(surestep, target, by, note, wait)


async def _undo_what_ended(
    surestep: Surestep, target: str, by: str, note: str, wait: float
) -> Exit:
    undoing = await surestep.undo(target, by=by, note=note)
    if isinstance(undoing, Ruling):  # it was reset meanwhile
        return told(undoing)
    page.labelled("step", undoing.step_id)
    try:
        outcome = await wait_for(surestep, undoing, timedelta(seconds=wait))
    except StepPending as pending:
        page.aside(f"{pending}; the same command waits on")
        return Exit.OPEN
    except UnknownTool as error:
        raise NothingToUndo(f"the tool has no undo, as far as the worker knows: {error}") from error
    page.labelled("undo", in_words(outcome.actions[0]), style=page.style_of(outcome.state))
    return exit_of(outcome)
