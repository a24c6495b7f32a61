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
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from surestep.errors import SurestepError
from surestep.setting_values import (
    BaseUrl,
    Deployment,
    Folder,
    Listen,
    MailServer,
    Name,
    Origins,
    Seconds,
    Targets,
    Tools,
)

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


OUR_KEYS: Final = (
    "encryption_keys", "signing_key", "decision_keys", "notify_secret", "codec_readers",
)  # fmt: skip
"""Files that no tool may be handed."""


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
    task_queue: Name = Field(
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
    looks_at_once: Annotated[int, Field(ge=1, le=100)] = Field(
        default=10,
        description="How many lookups of one tool a worker has under way at once, so that a "
        "service that comes back is not stormed.",
        examples=["10"],
    )
    looks_per_second: Annotated[float, Field(gt=0)] | None = Field(
        default=None,
        description="How many lookups of one tool a worker begins in a second at the most.",
        examples=["20"],
    )
    build_id: Name | None = Field(
        default=None,
        description="Version of this worker's code and tools, which switches worker versioning on: "
        "see docs/operations.md.",
        examples=["2026-11-30.1"],
    )
    deployment: Deployment = Field(
        default="surestep",
        description="With a build id: the workers that are deployed and replaced together.",
        examples=["surestep"],
    )
    ui: BaseUrl | None = Field(
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
    smtp: MailServer | None = Field(
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
    encryption_keys: Folder | None = Field(
        default=None,
        description="File with the key ring that encrypts every payload (docs/encryption.md). The "
        "same for workers, agents and the codec server.",
        examples=["/run/secrets/surestep-keys.toml"],
    )
    secrets: Folder | None = Field(
        default=None,
        description="Folder with a file for each secret that a tool's arguments may name, and with "
        "nothing else: not the one of the keys.",
        examples=["/run/tool-secrets"],
    )
    log: Literal["text", "json"] = Field(
        default="text",
        description="How a worker writes its log: lines to read, or a JSON object a line.",
        examples=["json"],
    )
    metrics: Listen | None = Field(
        default=None,
        description="Where a worker serves its Prometheus metrics; two on one machine need two "
        "ports.",
        examples=["127.0.0.1:9464"],
    )
    health: Listen | None = Field(
        default=None,
        description="Where a worker says over HTTP whether it lives (/healthz) and asks for work "
        "(/readyz).",
        examples=["127.0.0.1:8081"],
    )
    traces: BaseUrl | None = Field(
        default=None,
        description="OTLP collector to which traces go, over HTTP. Needs surestep[traces].",
        examples=["http://127.0.0.1:4318"],
    )
    codec: BaseUrl | None = Field(
        default=None,
        description="Where the codec server is reached, for `starter.py doctor`.",
        examples=["https://codec.example.com"],
    )
    codec_listen: Listen = Field(
        default="127.0.0.1:8888",
        description="Where `starter.py codec` listens.",
        examples=["0.0.0.0:8888"],
    )
    codec_origins: Origins = Field(
        default=(),
        description="The Web UI's origins, separated by commas: no other page may ask the codec "
        "server.",
        examples=["https://temporal.example.com"],
    )
    codec_readers: Folder | None = Field(
        default=None,
        description="File that says who may decode (docs/encryption.md).",
        examples=["/etc/surestep/readers.toml"],
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
        else:
            problems += _within_reach(settings)
        if problems:
            raise SettingsError("\n".join(problems))
        return settings

    @classmethod
    def table(cls) -> tuple[Setting, ...]:
        """All settings in the order of the fields, for `--help` and the documentation."""
        return tuple(_row(field) for field in cls.model_fields)


def _within_reach(settings: Settings) -> list[str]:
    """Our own keys, where an argument that names a secret could name them."""
    folder = settings.secrets
    if folder is None:
        return []
    return [
        f"{_variable('secrets')}={str(folder)!r} is also the folder of {_variable(field)}, so an "
        "argument could name that file. Give the secrets of tools a folder of their own."
        for field in OUR_KEYS
        if (path := getattr(settings, field)) and path.resolve().is_relative_to(folder.resolve())
    ]


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
