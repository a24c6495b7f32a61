"""Who may decode: people by a token of their own, or by the login of the Web UI (a JWT).

The file that SURESTEP_CODEC_READERS names is read here; docs/encryption.md shows one.
"""

import hmac
import json
import secrets
import tomllib
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final, Self

import jwt
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from pydantic import Field, StringConstraints, ValidationError

from surestep.encryption.errors import EncryptionError
from surestep.errors import describe_validation
from surestep.value import Value

EVERYBODY: Final = "*"
CLOCKS_DIFFER: Final = 30  # seconds, of a token's times
_SCHEME: Final = "bearer "

# Asymmetric only: whoever checks a login must not be able to make one.
_ALGORITHMS: Final = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip

Name = Annotated[
    str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")
]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class ReadersError(EncryptionError):
    """The file of readers cannot be used; the message names file, field and remedy."""


class Reader(Value):
    """One who may decode; `tokens`: the SHA-256 of each, in lower-case hexadecimal."""

    tokens: Annotated[tuple[Digest, ...], Field(min_length=1)]


class Login(Value):
    """The issuer whose access tokens the Web UI passes on.

    issuer, audience  what a token must say of itself
    keys     file with the issuer's public keys: a JWKS, or one key in PEM
    claim    which claim names the reader
    allowed  the readers by that name; "*" alone: whoever can log in
    """

    issuer: Name
    audience: Name
    keys: Path
    claim: Name = "sub"
    allowed: Annotated[tuple[Name, ...], Field(min_length=1)]


class _File(Value):
    readers: dict[Name, Reader] = Field(default_factory=dict)
    login: Login | None = None


@dataclass(frozen=True)
class Readers:
    """Those who may decode."""

    by_token: tuple[tuple[str, str], ...]
    login: Login | None
    keys: tuple[tuple[str | None, Any], ...]

    @classmethod
    def load(cls, path: Path) -> Self:
        """What the file says. Raises ReadersError."""
        try:
            told = _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            remedy = "let SURESTEP_CODEC_READERS name a file that can be read"
            raise ReadersError(f"{path}: {error.strerror}: {remedy}") from None
        except ValidationError as error:
            wrong = describe_validation(error)
            raise ReadersError(f"{path}: {wrong}: docs/encryption.md has an example") from None
        except ValueError:
            remedy = "docs/encryption.md has an example"
            raise ReadersError(f"{path} is not TOML in UTF-8: {remedy}") from None
        if not told.readers and told.login is None:
            raise ReadersError(f"{path} names nobody: add [readers.NAME] or [login]")
        by_token = ((one, name) for name, reader in told.readers.items() for one in reader.tokens)
        keys = _issuer_keys(path, told.login.keys) if told.login else ()
        return cls(tuple(by_token), told.login, keys)

    def who(self, authorization: str) -> str | None:
        """The reader whom the header names; None: nobody who may decode."""
        if not authorization.lower().startswith(_SCHEME):
            return None
        token = authorization[len(_SCHEME) :].strip()
        digest, found = token_digest(token), None
        for known, name in self.by_token:  # all of them, so that the time tells nothing
            if hmac.compare_digest(known, digest):
                found = name
        return found or self._logged_in(token)

    def _logged_in(self, token: str) -> str | None:
        if self.login is None:
            return None
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            return None
        for key_id, key in self.keys:
            if key_id is not None and header.get("kid") not in (None, key_id):
                continue
            try:
                claims = jwt.decode(
                    token,
                    key,
                    algorithms=list(_ALGORITHMS),
                    issuer=self.login.issuer,
                    audience=self.login.audience,
                    leeway=CLOCKS_DIFFER,
                    options={"require": ["exp", "iss", "aud", self.login.claim]},
                )
            except (jwt.PyJWTError, TypeError, ValueError):  # also a key of another kind
                continue
            name = claims[self.login.claim]
            known = isinstance(name, str) and name.isprintable()
            return name if known and self._allows(name) else None
        return None

    def _allows(self, name: str) -> bool:
        assert self.login  # noqa: S101 - only a login gets here
        return self.login.allowed == (EVERYBODY,) or name in self.login.allowed


def new_token() -> str:
    return secrets.token_urlsafe(32)


def token_digest(token: str) -> str:
    """As it stands in the file: a token has 256 random bits, so a plain hash gives nothing away."""
    return sha256(token.encode()).hexdigest()


def _issuer_keys(path: Path, file: Path) -> tuple[tuple[str | None, Any], ...]:
    file = file if file.is_absolute() else path.parent / file
    remedy = "name a file with the issuer's JWKS, or one public key in PEM"
    try:
        text = file.read_bytes()
        if text.lstrip().startswith(b"-----BEGIN"):
            return ((None, load_pem_public_key(text)),)
        found = jwt.PyJWKSet.from_dict(json.loads(text)).keys
    except OSError as error:
        raise ReadersError(f"{path}: login.keys: {file}: {error.strerror}: {remedy}") from None
    except (jwt.PyJWTError, ValueError, AttributeError, TypeError):
        raise ReadersError(f"{path}: login.keys: {file} has no public key: {remedy}") from None
    asymmetric = [one for one in found if one.key_type != "oct"]
    if not asymmetric:
        raise ReadersError(f"{path}: login.keys: {file} has no public key: {remedy}")
    return tuple((one.key_id, one.key) for one in asymmetric)
