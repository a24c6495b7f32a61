"""`undo`: undo a confirmed action, in its step or after it."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer
from pydantic import ValidationError

from surestep.cli import page
from surestep.cli.addressing import check, record_of, resolve
from surestep.cli.decide import decision_of, ended, send, user
from surestep.cli.exits import Exit, epilog, exit_of
from surestep.cli.keys import signed, signing_key
from surestep.cli.result import in_words
from surestep.cli.ruling import told
from surestep.cli.session import run, session
from surestep.cli.waiting import wait as wait_for
from surestep.client import Surestep
from surestep.decision import Decision, Ruling, Verdict
from surestep.errors import ANOTHER, NothingToUndo, NotSigned, UnknownTool
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
    other: Annotated[
        Path | None,
        typer.Option(
            "--with",
            metavar="FILE",
            help="What another person has signed, where two must: a line that `undo` has printed.",
        ),
    ] = None,
) -> None:
    """Undo a confirmed action, by its tool's own undo. Undoing it twice is undoing it once.

    While the step is open this is the decision `undo`; afterwards it is a step of its own. An
    action that is unknown is never undone: decide it first.
    """
    run(_undo(target, note, user() if by is None else by, wait, key, other))


async def _undo(
    target: str, note: str, by: str, wait: float, key: Path | None, other: Path | None
) -> Exit:
    async with session() as surestep:
        step, action = await resolve(surestep, target)
        said = {"verdict": Verdict.UNDO, "action": action, "by": by, "note": note}
        decision = decision_of(said | {"id": uuid4().hex})
        await check(surestep, step.id, action)
        settings = Settings.from_environment()
        signs = signing_key(settings, key)
        record = await record_of(surestep, step, action) if signs else None
        if not ended(step):
            return await send(surestep, step, decision, record, key)
        mine = [signed(decision, record, settings, key)] if signs else []
        theirs = [_read(other)] if other else []
        try:
            return await _undo_what_ended(surestep, target, by, note, wait, [*theirs, *mine])
        except NotSigned as error:
            if ANOTHER not in str(error) or theirs:
                raise
            page.line(mine[0].model_dump_json(exclude_defaults=True))
            page.aside(f"{error}, by `undo … --with FILE` with a file that holds the line above")
            return Exit.NOT_TAKEN


def _read(file: Path) -> Decision:
    try:
        return Decision.model_validate_json(file.read_text())
    except OSError as error:
        raise page.wrong(f"--with {file}: {error.strerror}") from None
    except ValidationError:
        raise page.wrong(f"--with {file}: it is no decision, as `undo` prints it") from None


async def _undo_what_ended(
    surestep: Surestep, target: str, by: str, note: str, wait: float, signed: list[Decision]
) -> Exit:
    undoing = await surestep.undo(target, by=by, note=note, signed=signed)
    if isinstance(undoing, Ruling):  # it was reset meanwhile
        return told(undoing, target)
    page.labelled("step", undoing.step_id)
    try:
        outcome = await wait_for(surestep, undoing, timedelta(seconds=wait))
    except StepPending as pending:
        page.aside(f"{pending}; the same command waits on")
        return Exit.OPEN
    except UnknownTool as error:
        raise NothingToUndo(
            f"the tool has no undo, as far as the worker knows: put it right in the service by "
            f"hand ({error})"
        ) from error
    page.labelled("undo", in_words(outcome.actions[0]), style=page.style_of(outcome.state))
    return exit_of(outcome)
