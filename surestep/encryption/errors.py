"""What can go wrong with encrypted payloads. No message holds a key, or what was encrypted.

EncryptionError
├── KeyFileError    the file of the key ring cannot be used
├── MissingKey      a payload was encrypted under a key that is not here
├── Unreadable      a payload cannot be decrypted with the key that it names
└── WorkerCannotAnswer  a worker lacks a key for the step that it was asked about
"""

from surestep.errors import SurestepError


class EncryptionError(SurestepError):
    """Base of what encryption raises."""


class KeyFileError(EncryptionError):
    """The file of the key ring cannot be used; the message names file, field and remedy."""


class MissingKey(EncryptionError):
    """The key `key_id` is not here; the message names it, the file and the remedy.

    Nothing is lost: Temporal keeps the payload, and whatever waits for it goes on with the key.
    """

    def __init__(self, key_id: str, place: str) -> None:
        super().__init__(
            f"a payload is encrypted under the key {key_id!r}, which {place}. "
            "Nothing is lost: what waits for the key goes on once it is there"
        )
        self.key_id = key_id


class Unreadable(EncryptionError):
    """The payload was changed, or its key is another of the same id."""


class WorkerCannotAnswer(EncryptionError):
    """A worker cannot read the step that it was asked about; the message is the worker's."""
