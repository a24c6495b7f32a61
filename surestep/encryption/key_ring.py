"""The keys that a process has. The file is read again when it changes, so nothing is restarted."""

import logging
import os
import stat
import time
from pathlib import Path
from typing import Final, Self

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from surestep.encryption.errors import KeyFileError, MissingKey
from surestep.encryption.key_file import read_keys

LOOKS_AGAIN_AFTER: Final = 1.0
"""Seconds; whether the file has changed is asked no more often, as long as no key is missing."""

logger = logging.getLogger("surestep.encryption")

_Seen = tuple[int, int, int] | None


class KeyRing:
    """Keys by their ids, one of them current: what is new is encrypted under that one.

    Neither `repr` nor any error shows a key.
    """

    def __init__(self, path: Path) -> None:
        """Raises KeyFileError."""
        self.path = path
        self._seen = _seen(path)
        self._looked = time.monotonic()
        self._current, self._ciphers = self._read()

    @classmethod
    def load(cls, path: Path) -> Self:
        """The ring of the file; a warning where others than its owner can read it.

        Raises KeyFileError.
        """
        ring = cls(path)
        if os.stat(ring.path).st_mode & (stat.S_IROTH | stat.S_IWOTH):
            logger.warning("%s can be read by everybody on this host: chmod o-rwx it", path)
        return ring

    def __repr__(self) -> str:
        return f"KeyRing({str(self.path)!r}, ids={list(self._ciphers)}, current={self._current!r})"

    @property
    def ids(self) -> tuple[str, ...]:
        self._refresh()
        return tuple(self._ciphers)

    def current(self) -> tuple[str, AESGCM]:
        """The key for what is new, with its id."""
        self._refresh()
        return self._current, self._ciphers[self._current]

    def cipher(self, key_id: str) -> AESGCM:
        """The key of the id. Raises MissingKey."""
        self._refresh(at_once=key_id not in self._ciphers)
        try:
            return self._ciphers[key_id]
        except KeyError:
            raise MissingKey(key_id, f"{self.path} does not have. Add it there") from None

    def _refresh(self, *, at_once: bool = False) -> None:
        if time.monotonic() < self._looked + LOOKS_AGAIN_AFTER and not at_once:
            return
        self._looked = time.monotonic()
        seen = _seen(self.path)
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self._current, self._ciphers = self._read()
        except KeyFileError as error:
            logger.error("the keys read before still hold: %s", error)
        else:
            logger.info("%s was read again: current is %s", self.path, self._current)

    def _read(self) -> tuple[str, dict[str, AESGCM]]:
        current, keys = read_keys(self.path)
        return current, {name: AESGCM(key) for name, key in keys.items()}


def _seen(path: Path) -> _Seen:
    """What differs once the file was changed or replaced. The links of a mounted secret count."""
    try:
        told = os.stat(path)
    except OSError:
        return None
    return told.st_ino, told.st_mtime_ns, told.st_size
