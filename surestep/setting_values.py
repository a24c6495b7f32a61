"""How the text of a variable becomes a setting's value; a ValueError says what is wrong with it."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator

from surestep.notification.targets import Target, targets


def _split(value: object) -> object:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _import_string(value: str) -> str:
    module, _, attribute = value.partition(":")
    if not all(name.isidentifier() for name in (module + "." + attribute).split(".")):
        raise ValueError(f"{value!r} is not of the form package.module:attribute")
    return value


def _name(value: str) -> str:
    if not value or value != value.strip():
        raise ValueError("it is empty or has spaces around it")
    return value


def _deployment(value: str) -> str:
    """Temporal writes a version as `deployment.build`, and cuts it at the first dot."""
    if "." in value or ":" in value:
        raise ValueError("it has a dot or a colon in it, which separate it from the build")
    return _name(value)


def _seconds(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return timedelta(seconds=float(value))
    except (ValueError, OverflowError):
        raise ValueError("it is not a number of seconds") from None


def _not_negative(value: timedelta) -> timedelta:
    if value < timedelta(0):
        raise ValueError("it is below zero")
    return value


def _folder(value: Path) -> Path:
    try:
        return value.expanduser().absolute()
    except RuntimeError:
        raise ValueError("its ~ names a user whose home is not known") from None


def _targets(value: object) -> object:
    texts = _split(value)
    return targets(texts) if isinstance(texts, list) else value


def _mail_server(value: str) -> str:
    try:
        parts = urlsplit(value)
        known = parts.scheme in ("smtp", "smtps") and parts.hostname and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise ValueError("it does not start with smtp:// or smtps:// and a host")
    return value


def _base_url(value: str) -> str:
    try:
        parts = urlsplit(value)
    except ValueError:
        raise ValueError("it is not a URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("it does not start with http:// or https:// and a host")
    if parts.query or parts.fragment:
        raise ValueError("a base URL ends before any ? or #")
    return value.rstrip("/")


def _listen(value: str) -> str:
    host, _, port = value.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError("it is not of the form host:port")
    return value


def _origin(value: str) -> str:
    if not re.fullmatch(r"https?://[A-Za-z0-9.-]+(:\d+)?", value):
        raise ValueError(f"{value!r} is not an origin: a scheme, a host and perhaps a port")
    return value.lower()


ImportString = Annotated[str, AfterValidator(_import_string)]
Name = Annotated[str, AfterValidator(_name)]
Deployment = Annotated[str, AfterValidator(_deployment)]
MailServer = Annotated[str, AfterValidator(_mail_server)]
BaseUrl = Annotated[str, AfterValidator(_base_url)]
Listen = Annotated[str, AfterValidator(_listen)]
Origins = Annotated[tuple[Annotated[str, AfterValidator(_origin)], ...], BeforeValidator(_split)]
Tools = Annotated[tuple[ImportString, ...], BeforeValidator(_split)]
Seconds = Annotated[timedelta, BeforeValidator(_seconds), AfterValidator(_not_negative)]
Folder = Annotated[Path, AfterValidator(_folder)]
Targets = Annotated[tuple[Target, ...], BeforeValidator(_targets)]
