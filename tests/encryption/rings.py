"""Key rings of a test: files that gain, lose and change keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from temporalio.client import Client

from surestep.encryption.converter import data_converter
from surestep.encryption.key_file import new_key, write_keys
from surestep.encryption.key_ring import KeyRing

FIRST, SECOND = "first", "second"
KEYS: Mapping[str, bytes] = {FIRST: new_key(), SECOND: new_key()}


@dataclass
class RingFile:
    """The file of one process, with the keys of these ids; the last of them is current."""

    path: Path
    ids: tuple[str, ...] = field(default=(), init=False)

    def hold(self, *ids: str, current: str | None = None) -> "RingFile":
        """It has these keys from now on."""
        keys = {name: KEYS[name] for name in ids}
        write_keys(self.path, current or ids[-1], keys, new=not self.path.exists())
        self.ids = ids
        return self

    @property
    def setting(self) -> dict[str, str]:
        return {"SURESTEP_ENCRYPTION_KEYS": str(self.path)}


async def connect(address: str, ring: RingFile | None) -> Client:
    """A client with the ring of the file; None: with no ring."""
    made = data_converter(KeyRing.load(ring.path) if ring else None)
    return await Client.connect(address, data_converter=made)
