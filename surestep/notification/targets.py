"""Who is told, as the settings name them. No I/O, and no error repeats what may be a credential."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from urllib.parse import unquote, urlsplit


class Kind(StrEnum):
    """How a target is told."""

    WEBHOOK = "webhook"
    LETTER = "letter"
    COMMAND = "command"


@dataclass(frozen=True)
class Target:
    """One target.

    name   what may be shown and recorded. Of a webhook only the host and a few digits that tell
           two apart, because chats hand out addresses whose path is the password
    place  URL, mail address or path of a program
    """

    kind: Kind
    name: str
    place: str = field(repr=False)


def targets(texts: Iterable[str]) -> tuple[Target, ...]:
    """The targets, each once. Raises ValueError that says which one is wrong by its number."""
    found: list[Target] = []
    for number, text in enumerate(texts, start=1):
        try:
            found.append(_target(text))
        except ValueError as error:
            raise ValueError(f"target {number} {error}") from None
    return tuple(dict.fromkeys(found))


def _target(text: str) -> Target:
    scheme, _, rest = text.partition(":")
    match scheme.lower():
        case "http" | "https":
            return _webhook(text)
        case "mailto":
            return _letter(rest)
        case "command":
            if not rest.startswith("/"):
                raise ValueError("needs the absolute path of a program after command:")
            return Target(Kind.COMMAND, text, rest)
        case _:
            raise ValueError("does not start with https://, http://, mailto: or command:/")


def _webhook(url: str) -> Target:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("is not a URL") from None
    if not parts.hostname or not url.isprintable() or " " in url:
        raise ValueError("is not a URL with a host")
    if parts.fragment:
        raise ValueError("has a #, which no server would see")
    rest = f"{parts.username or ''}@{parts.path}?{parts.query}"
    digits = sha256(rest.encode()).hexdigest()[:6]
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = f"{host}:{port}" if port else host
    return Target(Kind.WEBHOOK, f"{parts.scheme}://{place}#{digits}", url)


def _letter(rest: str) -> Target:
    address = unquote(rest)
    local, _, domain = address.rpartition("@")
    plain = address.isascii() and address.isprintable() and not set(address) & set(' ?,;:<>"')
    if not local or not domain or "@" in local or not plain:
        raise ValueError("is not mailto: and one plain address")
    return Target(Kind.LETTER, f"mailto:{address}", address)
