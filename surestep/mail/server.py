"""Where mail is handed in, and as whom."""

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit

from surestep.errors import NotSent


class Tls(StrEnum):
    """`STARTTLS` is demanded, never merely tried; `OFF` is for a relay on this machine."""

    IMPLICIT = "implicit"
    STARTTLS = "starttls"
    OFF = "off"


_PORTS = {Tls.IMPLICIT: 465, Tls.STARTTLS: 587, Tls.OFF: 25}


@dataclass(frozen=True)
class MailServer:
    """A submission server. `trust` replaces the system's certificates, for a private authority."""

    host: str
    port: int
    tls: Tls = Tls.STARTTLS
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    trust: ssl.SSLContext | None = None

    @classmethod
    def from_environment(cls, env: Mapping[str, str] = os.environ) -> Self:
        """From SMTP_URL: `smtp://user:password@host` (port 587, STARTTLS) or `smtps://…` (465).

        User and password are percent-encoded; `smtp://localhost?tls=off` sends in the clear.
        Raises NotSent where that cannot be read.
        """
        url = env.get("SMTP_URL", "")
        try:
            return cls.from_url(url)
        except ValueError as error:
            raise NotSent(
                f"SMTP_URL is {'wrong' if url else 'not set'}: "
                "set it to a value such as smtp://user:password@mail.example.com:587"
            ) from error

    @classmethod
    def from_url(cls, url: str) -> Self:
        """From a URL such as SMTP_URL holds. Raises ValueError where it is none."""
        parts = urlsplit(url)
        tls = Tls(parse_qs(parts.query).get("tls", [Tls.STARTTLS])[0])
        if parts.scheme == "smtps":
            tls = Tls.IMPLICIT
        elif parts.scheme != "smtp":
            raise ValueError(parts.scheme)
        if not parts.hostname:
            raise ValueError("no host")
        return cls(
            host=parts.hostname,
            port=parts.port or _PORTS[tls],
            tls=tls,
            username=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
        )
