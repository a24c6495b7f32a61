"""The file of a key ring: TOML with the id of the current key, and each key in base64.

current = "2026-11-30-5f0c"

[keys]
2026-11-30-5f0c = "…"     # 32 random bytes
"""

import os
import re
import secrets
import tempfile
import tomllib
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

from surestep.encryption.errors import KeyFileError

KEY_BYTES: Final = 32
KEY_ID: Final = re.compile(
    r"[A-Za-z0-9_-]{1,32}"
)  # a bare key of TOML, and short: it is in every payload
FIELDS: Final = ("current", "keys")
ONLY_ITS_OWNER: Final = 0o600

_EXAMPLE: Final = "`python starter.py encryption-keys new FILE` writes one"


def read_keys(path: Path) -> tuple[str, dict[str, bytes]]:
    """The current id, and the keys by their ids. Raises KeyFileError."""
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        remedy = "let SURESTEP_ENCRYPTION_KEYS name a file that this process can read"
        raise KeyFileError(f"{path}: {error.strerror}: {remedy}") from None
    except ValueError:  # neither UTF-8 nor TOML; the parser's own words may quote a key
        raise KeyFileError(f"{path} is not TOML in UTF-8: {_EXAMPLE}") from None
    for field in told:
        if field not in FIELDS:
            raise KeyFileError(f"{path}: {field!r} is unknown here: keep only current and [keys]")
    keys = {name: _key(path, name, value) for name, value in _table(path, told).items()}
    _all_differ(path, keys)
    current = told.get("current")
    if not isinstance(current, str) or current not in keys:
        known = ", ".join(keys)
        raise KeyFileError(f"{path}: current: it must be the id of a key below [keys]: {known}")
    return current, keys


def _table(path: Path, told: Mapping[str, Any]) -> Mapping[str, Any]:
    table = told.get("keys")
    if not isinstance(table, dict) or not table:
        raise KeyFileError(f"{path}: keys: there must be a table [keys] with a key: {_EXAMPLE}")
    return table


def _key(path: Path, name: str, value: object) -> bytes:
    if not KEY_ID.fullmatch(name):
        remedy = "use 1 to 32 of A-Z, a-z, 0-9, - and _"
        # A key that stands where its id belongs must not be shown.
        raise KeyFileError(f"{path}: keys: an id of {len(name)} characters: {remedy}")
    try:
        key = b64decode(value, validate=True) if isinstance(value, str) else b""
    except NotBase64:
        key = b""
    if len(key) != KEY_BYTES:
        remedy = "`python starter.py encryption-keys add FILE` makes one"
        raise KeyFileError(f"{path}: keys.{name}: it is not {KEY_BYTES} bytes in base64: {remedy}")
    if len(set(key)) < KEY_BYTES // 4:  # of 32 random bytes, some 30 differ
        raise KeyFileError(f"{path}: keys.{name}: it is not random: replace it by a new key")
    return key


def _all_differ(path: Path, keys: Mapping[str, bytes]) -> None:
    owners: dict[bytes, str] = {}
    for name, key in keys.items():
        if (other := owners.setdefault(key, name)) != name:
            raise KeyFileError(f"{path}: keys.{other} and keys.{name} are one key: remove one")


def new_id(today: date) -> str:
    """An id that nobody else gives to another key."""
    return f"{today.isoformat()}-{secrets.token_hex(4)}"


def new_key() -> bytes:
    return secrets.token_bytes(KEY_BYTES)


def key_text(current: str, keys: Mapping[str, bytes]) -> str:
    """The file, as `read_keys` reads it."""
    lines = [f'{name} = "{b64encode(key).decode()}"' for name, key in keys.items()]
    return "\n".join([f'current = "{current}"', "", "[keys]", *lines, ""])


def write_keys(path: Path, current: str, keys: Mapping[str, bytes], *, new: bool) -> None:
    """Write the file for its owner alone, at once or not at all. Raises KeyFileError.

    new  it must not exist yet: a ring that is in use is never overwritten
    """
    try:
        real = path.resolve()
        before = None if new else real.stat()
        real.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=real.parent, prefix=".keys-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as out:
                out.write(key_text(current, keys))
                out.flush()
                os.fsync(descriptor)
                os.fchmod(descriptor, before.st_mode & 0o777 if before else ONLY_ITS_OWNER)
                if before and os.geteuid() == 0:  # root, who keeps it for the user of the workers
                    os.fchown(descriptor, before.st_uid, before.st_gid)
            if new:
                os.link(name, real)  # refused where it exists
                os.unlink(name)
            else:
                os.replace(name, real)
        except BaseException:
            os.unlink(name)
            raise
    except FileExistsError:
        raise KeyFileError(f"{path} is there already: name another place, or use `add`") from None
    except OSError as error:
        raise KeyFileError(f"{path}: {error.strerror}: name another place") from None
