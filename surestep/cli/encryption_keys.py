"""`encryption-keys`: the key ring that encrypts payloads; docs/encryption.md has the order."""

import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from surestep.cli import page
from surestep.cli.exits import Exit, epilog
from surestep.cli.session import run
from surestep.encryption.errors import KeyFileError
from surestep.encryption.key_file import new_id, new_key, read_keys, write_keys
from surestep.settings import Settings

EPILOG = epilog(Exit.DONE)

app = typer.Typer(
    help="The key ring that encrypts what Temporal stores (docs/encryption.md).",
    rich_markup_mode=None,
    no_args_is_help=True,
)

NewFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]", help="Where it goes; encryption-keys.toml in SURESTEP_HOME by default."
    ),
]
File = Annotated[
    Path | None,
    typer.Argument(metavar="[FILE]", help="The ring; SURESTEP_ENCRYPTION_KEYS by default."),
]
KeyId = Annotated[str, typer.Argument(metavar="KEY", help="The id of a key in the ring.")]


@app.command("new", epilog=EPILOG)
def new(file: NewFile = None) -> None:
    """Make a ring with one key, in a file that only its owner can read."""
    run(_new(file))


@app.command("add", epilog=EPILOG)
def add(file: File = None) -> None:
    """Add a key, without using it yet: first every process must have it."""
    run(_add(file))


@app.command("use", epilog=EPILOG)
def use(key: KeyId, file: File = None) -> None:
    """Make a key current: what is new is encrypted under it. First every process must have it."""
    run(_use(key, file))


@app.command("list", epilog=EPILOG)
def list_keys(file: File = None) -> None:
    """Show the ids in the ring, and which is current. Never a key."""
    run(_list(file))


async def _new(file: Path | None) -> Exit:
    path = file or Settings.from_environment().home / "encryption-keys.toml"
    key_id = _new_id()
    write_keys(path, key_id, {key_id: new_key()}, new=True)
    page.line(key_id)
    page.aside(
        f"the ring is in {path.absolute()}; without it nobody reads what it encrypted: keep a copy "
        "where you keep such secrets. Every worker, agent and the codec server gets it by"
    )
    name = shlex.quote(str(path.absolute()))
    page.command(f"export SURESTEP_ENCRYPTION_KEYS={name}", to_copy_from_stderr=True)
    return Exit.DONE


async def _add(file: Path | None) -> Exit:
    path = _ring(file)
    current, keys = read_keys(path)
    key_id = _new_id()
    write_keys(path, current, {**keys, key_id: new_key()}, new=False)
    page.line(key_id)
    page.aside("bring this file to every worker, agent and the codec server; only then use the key")
    page.command(f"python starter.py encryption-keys use {key_id}", to_copy_from_stderr=True)
    return Exit.DONE


async def _use(key: str, file: Path | None) -> Exit:
    path = _ring(file)
    _, keys = read_keys(path)
    if key not in keys:
        raise KeyFileError(f"{path} has no key {key!r}: it has {', '.join(keys)}")
    write_keys(path, key, keys, new=False)
    page.line(key)
    page.aside("processes that read this file use it within seconds; keep the other keys in it")
    return Exit.DONE


async def _list(file: Path | None) -> Exit:
    current, keys = read_keys(_ring(file))
    for name in keys:
        page.line(f"{name}  current" if name == current else name)
    return Exit.DONE


def _ring(file: Path | None) -> Path:
    path = file or Settings.from_environment().encryption_keys
    if path is None:
        raise KeyFileError("no ring is named: give its FILE, or set SURESTEP_ENCRYPTION_KEYS")
    return path


def _new_id() -> str:
    return new_id(datetime.now(UTC).date())
