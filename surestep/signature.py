"""Signatures of decisions and notices (Ed25519): what is signed, by which key, and whether it fits.

docs/security.md describes the same for whoever signs in another language.
"""

import json
from base64 import b64decode, b64encode
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from surestep.decision import Decision
from surestep.errors import SurestepError
from surestep.notice import Notice

NEEDED: Final = ("action", "id", "version", "input_hash", "made_at")
"""What a signed decision must say, so that it holds for one action, as it was seen, and once."""

STATEMENT: Final = "surestep decision 1"
NOTICE_STATEMENT: Final = "surestep notice 1"
"""Begin every statement: what is signed for something else is no decision, and no notice."""

_UNSIGNED: Final = {"signature", "at"}
_FINGERPRINT: Final = 16  # hexadecimal characters
_PEM: Final = "-----BEGIN"

# Of 32 random bytes, some 30 differ. Zeros are a key for which anybody can sign.
_LEAST_VARIETY: Final = 8


class SigningError(SurestepError):
    """A key cannot be used, or a decision cannot be signed; the message names the remedy."""


def statement(said: Decision | Notice) -> bytes:
    """The signed bytes: canonical JSON of everything that the decision, or the notice, says.

    A field that has its default is left out, so a field of a later release changes no signature.
    """
    fields = {
        name: _utc(value) if isinstance(value, datetime) else value
        for name, value in said.model_dump(exclude=_UNSIGNED, exclude_defaults=True).items()
    }
    begins = STATEMENT if isinstance(said, Decision) else NOTICE_STATEMENT
    return json.dumps(
        {"statement": begins, **fields}, sort_keys=True, separators=(",", ":")
    ).encode()


def _utc(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def unsaid(decision: Decision) -> tuple[str, ...]:
    """What is missing that a signed decision must say."""
    return tuple(name for name in NEEDED if getattr(decision, name) in (None, ""))


def sign(
    decision: Decision, *, action_id: str, input_hash: str, key: Ed25519PrivateKey
) -> Decision:
    """The decision about exactly this action with these arguments, signed."""
    told = decision.model_copy(
        update={
            "action": action_id,
            "input_hash": input_hash,
            "key": fingerprint(key.public_key()),
            "signature": None,
        }
    )
    if missing := unsaid(told):
        raise SigningError(f"a signed decision must say its {', '.join(missing)}: add that")
    signature = b64encode(key.sign(statement(told))).decode()
    return told.model_copy(update={"signature": signature})


def sign_notice(notice: Notice, key: Ed25519PrivateKey) -> Notice:
    """The notice, signed. It holds for the action whose full key it names."""
    told = notice.model_copy(update={"signed_by": fingerprint(key.public_key())})
    return told.model_copy(update={"signature": b64encode(key.sign(statement(told))).decode()})


def fits(said: Decision | Notice, key: Ed25519PublicKey) -> bool:
    """Whether the signature was made by the key, of exactly this decision or notice."""
    try:
        given = said.signature or ""
        signature = b64decode(given, validate=True)
        if b64encode(signature).decode() != given:
            return False  # the same bytes in another spelling
        key.verify(signature, statement(said))
    except (InvalidSignature, ValueError, OverflowError):  # the last: a time that has no UTC
        return False
    return True


def fingerprint(key: Ed25519PublicKey) -> str:
    """The name of a key: the start of the SHA-256 of its 32 bytes."""
    return sha256(key.public_bytes_raw()).hexdigest()[:_FINGERPRINT]


def new_key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.generate()


def private_text(key: Ed25519PrivateKey) -> str:
    """PKCS 8 in PEM, as OpenSSL writes it."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def public_text(key: Ed25519PublicKey) -> str:
    """The 32 bytes in base64."""
    return b64encode(key.public_bytes_raw()).decode()


def read_private(text: str) -> Ed25519PrivateKey:
    """From PEM, or from the 32 bytes in base64. Raises ValueError with what is wrong."""
    text = text.strip()
    if not text.startswith(_PEM):
        return Ed25519PrivateKey.from_private_bytes(_raw(text))
    try:
        key = serialization.load_pem_private_key(text.encode(), password=None)
    except TypeError:  # what `cryptography` raises for a key that needs a password
        raise ValueError(
            "it is encrypted: decrypt it with `openssl pkey`, or make one without"
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError("it is no private key in PEM") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("it is a key of another kind than Ed25519")
    return key


def load_private(file: Path) -> Ed25519PrivateKey:
    """The key in a file. Raises SigningError."""
    try:
        return read_private(file.read_text())
    except OSError as error:
        raise SigningError(f"{file}: {error.strerror}: name your private key's file") from None
    except ValueError as error:
        raise SigningError(f"{file}: {error}: `starter.py keys new` makes one") from None


def read_public(text: str) -> Ed25519PublicKey:
    """From PEM, or from the 32 bytes in base64. Raises ValueError with what is wrong."""
    text = text.strip()
    if not text.startswith(_PEM):
        raw = _raw(text)
        if len(set(raw)) < _LEAST_VARIETY:
            raise ValueError("it is a placeholder, not a key")
        return Ed25519PublicKey.from_public_bytes(raw)
    if "PRIVATE" in text:
        raise ValueError("it is a private key, which only its owner may have: name the public one")
    try:
        key = serialization.load_pem_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError("it is no public key in PEM") from None
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("it is a key of another kind than Ed25519")
    return key


def _raw(text: str) -> bytes:
    try:
        raw = b64decode(text, validate=True)
    except ValueError:
        raise ValueError("it is neither PEM nor base64") from None
    if len(raw) != 32:
        raise ValueError(f"it has {len(raw)} bytes, and an Ed25519 key has 32")
    return raw
