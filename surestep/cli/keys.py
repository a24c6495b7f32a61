"""`keys`: the pair with which a person signs decisions; and signing with it."""

import json
import os
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from surestep.cli import page
from surestep.cli.exits import Exit, epilog
from surestep.cli.session import run
from surestep.decision import Decision
from surestep.record import Record
from surestep.ruling import lacks_its_version
from surestep.settings import Settings
from surestep.signature import (
    SigningError,
    load_private,
    new_key,
    private_text,
    public_text,
    sign,
)

EPILOG = epilog(Exit.DONE)

ONLY_ITS_OWNER = 0o600

app = typer.Typer(
    help="Keys for signed decisions (docs/security.md).",
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.command("new", epilog=EPILOG)
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose key it is.")],
    file: Annotated[
        Path | None,
        typer.Option(help="Where the private key goes; NAME.pem in SURESTEP_HOME by default."),
    ] = None,
) -> None:
    """Make a key pair: write the private key to a file, print what the workers need to know.

    The printed lines go into the file that SURESTEP_DECISION_KEYS names on the workers. The private
    key stays with its owner.
    """
    if not name.strip() or not name.isprintable():
        raise typer.BadParameter("NAME must be a person's name: it is shown with each decision")
    run(_new(name.strip(), file))


async def _new(name: str, file: Path | None) -> Exit:
    key = new_key()
    path = _write(private_text(key), file or Settings.from_environment().home / _file_name(name))
    page.line(f"[people.{_toml_key(name)}]")
    page.line(f'keys = ["{public_text(key.public_key())}"]')
    page.aside(f"the private key is in {path}; whoever has it decides as {name}. To sign with it:")
    page.command(f"export SURESTEP_SIGNING_KEY={shlex.quote(str(path))}", to_copy_from_stderr=True)
    return Exit.DONE


def _write(text: str, path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Never a moment in which others can read it, and never over a key that is in use.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, ONLY_ITS_OWNER)
        with os.fdopen(descriptor, "w") as out:
            out.write(text)
    except FileExistsError:
        raise SigningError(f"{path} is there already: name another place with --file") from None
    except OSError as error:
        raise SigningError(f"{path}: {error.strerror}: name another place with --file") from None
    return path.absolute()


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") + ".pem"


def _toml_key(name: str) -> str:
    bare = re.fullmatch(r"[A-Za-z0-9_-]+", name)
    return name if bare else json.dumps(name, ensure_ascii=False)


def signing_key(settings: Settings, given: Path | None = None) -> Path | None:
    """The file with the key to sign with: the one given, or that of the settings."""
    return given or settings.signing_key


def signed(
    decision: Decision, record: Record | None, settings: Settings, given: Path | None = None
) -> Decision:
    """The decision about the record's action, signed; as it is, where there is no key to sign with.

    It answers the version and arguments that it names, or else the record's. Raises SigningError.
    """
    file = signing_key(settings, given)
    if file is None:
        return decision
    if record is None:
        raise SigningError(
            "a signature holds for the arguments and the version of an action, and only a worker "
            "knows them: start one with `python worker.py`, then sign"
        )
    if lacks_its_version(record, decision):
        raise SigningError(
            f"nobody signs {decision.verdict} unseen: name the version that `starter.py show` has "
            "shown you"
        )
    told = decision.model_copy(
        update={
            "id": decision.id or uuid4().hex,
            "version": record.version if decision.version is None else decision.version,
            "made_at": decision.made_at or datetime.now(UTC),
        }
    )
    key = load_private(file)
    seen = told.input_hash or record.input_hash
    return sign(told, action_id=record.action_id, input_hash=seen, key=key)
