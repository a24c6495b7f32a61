"""What an operator can set: environment variables that start with SURESTEP_.

Where Temporal is, and how to log in there, is not here: Temporal's own variables and profile
files say that (`surestep.connection`).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from surestep.errors import SurestepError
from surestep.notification.targets import Target, targets

PREFIX: Final = "SURESTEP_"


class SettingsError(SurestepError):
    """A SURESTEP_ variable is unknown or wrong; the message names it, its value and the remedy."""


@dataclass(frozen=True)
class Setting:
    """One row of the settings table. `default` is "" where nothing is set by default."""

    variable: str
    default: str
    example: str
    description: str


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


ImportString = Annotated[str, AfterValidator(_import_string)]
Tools = Annotated[tuple[ImportString, ...], BeforeValidator(_split)]
Seconds = Annotated[timedelta, BeforeValidator(_seconds), AfterValidator(_not_negative)]
Folder = Annotated[Path, AfterValidator(_folder)]
Targets = Annotated[tuple[Target, ...], BeforeValidator(_targets)]


class Settings(BaseModel):
    """The settings of one process, frozen; tests may construct it with typed values.

    The field `name` is read from the variable `SURESTEP_NAME`. What can hold credentials has
    `repr=False`, and no refusal repeats it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    tools: Tools = Field(
        default=(),
        description="Tools this process knows: import strings, separated by commas.",
        examples=["acme.tools:tools"],
    )
    task_queue: Annotated[str, AfterValidator(_name)] = Field(
        default="surestep",
        description="Temporal task queue on which workers and agents meet.",
        examples=["surestep"],
    )
    home: Folder = Field(
        default=Path("~/.surestep"),
        description="Folder of the embedded server's data, on a local disk. Not used with a "
        "Temporal cluster.",
        examples=["/var/lib/surestep"],
    )
    grace: Seconds = Field(
        default=timedelta(seconds=60),
        description="Seconds for which a stopping worker lets an attempt in flight report.",
        examples=["60"],
    )
    build_id: Annotated[str, AfterValidator(_name)] | None = Field(
        default=None,
        description="Version of this worker's code and tools, which switches worker versioning on: "
        "see docs/operations.md.",
        examples=["2026-11-30.1"],
    )
    deployment: Annotated[str, AfterValidator(_deployment)] = Field(
        default="surestep",
        description="With a build id: the workers that are deployed and replaced together.",
        examples=["surestep"],
    )
    ui: Annotated[str, AfterValidator(_base_url)] | None = Field(
        default=None,
        description="Base URL of the Temporal Web UI, for links to steps. The embedded server "
        "knows its own.",
        examples=["https://temporal.example.com"],
    )
    notify: Targets = Field(
        default=(),
        repr=False,
        description="Who is told of questions and anomalies: webhooks, mailto: and command:, "
        "separated by commas.",
        examples=["https://hooks.example.com/surestep,mailto:ops@example.com"],
    )
    notify_overdue: Targets = Field(
        default=(),
        repr=False,
        description="Who is told when nobody has answered in time. By default those of "
        "SURESTEP_NOTIFY.",
        examples=["command:/usr/local/bin/page-somebody"],
    )
    notify_secret: Folder | None = Field(
        default=None,
        description="File with the secret that signs the bodies of webhooks (HMAC-SHA256).",
        examples=["/run/secrets/surestep-notify"],
    )
    smtp: Annotated[str, AfterValidator(_mail_server)] | None = Field(
        default=None,
        repr=False,
        description="Mail server for mailto: targets. STARTTLS is demanded unless it is smtps:// "
        "or ?tls=off; ?from= names the sender.",
        examples=["smtp://user:password@mail.example.com:587?from=surestep@example.com"],
    )
    decision_keys: Folder | None = Field(
        default=None,
        description="File that says who may decide, with their public keys (docs/security.md). "
        "Workers then take signed decisions only.",
        examples=["/etc/surestep/people.toml"],
    )
    signing_key: Folder | None = Field(
        default=None,
        description="File with the private key that signs your decisions.",
        examples=["~/.surestep/ada.pem"],
    )

    @classmethod
    def from_environment(cls, env: Mapping[str, str] = os.environ) -> Self:
        """Read every SURESTEP_ variable of `env`; an empty one counts as not set.

        Raises `SettingsError` that lists every unknown variable and every wrong value.
        """
        known = {_variable(field): field for field in cls.model_fields}
        ours = {name: value for name, value in env.items() if name.upper().startswith(PREFIX)}
        problems = [_unknown(name, known) for name in sorted(ours) if name not in known]
        given = {known[name]: value for name, value in ours.items() if name in known and value}
        try:
            settings = cls.model_validate(given)
        except ValidationError as error:
            wrong: dict[str, str] = {}
            for detail in error.errors():
                wrong.setdefault(str(detail["loc"][0]), _reason(detail))
            problems += [_wrong(field, given[field], reason) for field, reason in wrong.items()]
        if problems:
            raise SettingsError("\n".join(problems))
        return settings

    @classmethod
    def table(cls) -> tuple[Setting, ...]:
        """All settings in the order of the fields, for `--help` and the documentation."""
        return tuple(_row(field) for field in cls.model_fields)


def _variable(field: str) -> str:
    return PREFIX + field.upper()


def _row(field: str) -> Setting:
    info = Settings.model_fields[field]
    default: Any = info.default
    match default:
        case timedelta():
            shown = f"{default.total_seconds():g}"
        case None | ():
            shown = ""
        case _:
            shown = str(default)
    return Setting(_variable(field), shown, str((info.examples or [""])[0]), info.description or "")


def _unknown(name: str, known: Mapping[str, str]) -> str:
    suffixes = [field.upper() for field in known.values()]
    nearest = get_close_matches(name.upper().removeprefix(PREFIX), suffixes, n=1)
    remedy = f"Did you mean {PREFIX}{nearest[0]}?" if nearest else f"Known: {', '.join(known)}."
    return f"{name} is not a setting of Surestep. {remedy} Rename it or unset it."


def _reason(detail: Any) -> str:
    cause = detail.get("ctx", {}).get("error")
    return str(cause or detail["msg"])


def _wrong(field: str, value: str, reason: str) -> str:
    row = _row(field)
    default = f" for the default {row.default}" if row.default else ""
    shown = f"={value!r}" if Settings.model_fields[field].repr else ""
    return (
        f"{row.variable}{shown} cannot be used: {reason}. "
        f"Set it to a value such as {row.example}, or unset it{default}."
    )
