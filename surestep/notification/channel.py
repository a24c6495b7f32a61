"""The ways to targets, opened and checked before anything is served."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

from surestep.notification.command import Command
from surestep.notification.message import Message
from surestep.notification.targets import Kind, Target
from surestep.notification.webhook import Webhook, secret_in
from surestep.settings import Settings, SettingsError

WITHIN: Final = timedelta(seconds=15)
"""The deadline of one try, of whatever kind."""


class Channel(Protocol):
    """The way to one target."""

    @property
    def name(self) -> str:
        """What may be shown and recorded."""

    async def tell(self, message: Message) -> None:
        """One try. What it raises says why it failed, in words that hold no secret."""


@dataclass(frozen=True)
class Channels:
    """Whom this deployment tells: `usual` of questions and anomalies, `overdue` of silence."""

    usual: tuple[Channel, ...] = ()
    overdue: tuple[Channel, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Everybody, each once."""
        return tuple(dict.fromkeys(one.name for one in (*self.usual, *self.overdue)))

    @classmethod
    def of(cls, settings: Settings, within: timedelta = WITHIN) -> "Channels":
        """Raises SettingsError for a target that this machine cannot tell."""
        if settings.notify_secret:
            _checked_secret(settings)
        overdue = settings.notify_overdue or settings.notify
        known = {
            target: _opened(target, settings, within)
            for target in dict.fromkeys((*settings.notify, *overdue))
        }
        return cls(_of(settings.notify, known), _of(overdue, known))


def _of(targets: Iterable[Target], known: dict[Target, Channel]) -> tuple[Channel, ...]:
    return tuple(known[target] for target in targets)


def _opened(target: Target, settings: Settings, within: timedelta) -> Channel:
    match target.kind:
        case Kind.WEBHOOK:
            return Webhook(target, settings.notify_secret, within)
        case Kind.COMMAND:
            if not os.access(target.place, os.X_OK) or os.path.isdir(target.place):
                raise SettingsError(
                    f"{_variable(target, settings)} names {target.name}, which is not a program "
                    "that this worker may run. Install it, make it executable, or take it out."
                )
            return Command(target, within)
        case Kind.LETTER:
            return _letter(target, settings, within)


def _letter(target: Target, settings: Settings, within: timedelta) -> Channel:
    variable = _variable(target, settings)
    if settings.smtp is None:
        raise SettingsError(
            f"{variable} names {target.name}, but SURESTEP_SMTP is not set. Set it to a value "
            "such as smtp://user:password@mail.example.com:587, or take the target out."
        )
    try:
        from surestep.notification.letter import Letter
    except ImportError:
        raise SettingsError(
            f"{variable} names {target.name}, and mail needs a package more: "
            "pip install 'surestep[mail]', or take the target out."
        ) from None
    try:
        return Letter(target, settings.smtp, within)
    except ValueError:
        raise SettingsError(
            "SURESTEP_SMTP cannot be used: it is not a mail server's URL. Set it to a value such "
            "as smtp://user:password@mail.example.com:587?from=surestep@example.com, user and "
            "password percent-encoded."
        ) from None


def _checked_secret(settings: Settings) -> None:
    assert settings.notify_secret  # noqa: S101 - the caller has looked
    try:
        secret_in(settings.notify_secret)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise SettingsError(
            f"SURESTEP_NOTIFY_SECRET={str(settings.notify_secret)!r} cannot be used: {why}. "
            "Make the file with `openssl rand -hex 32`, readable for the worker, or unset it."
        ) from None


def _variable(target: Target, settings: Settings) -> str:
    return "SURESTEP_NOTIFY" if target in settings.notify else "SURESTEP_NOTIFY_OVERDUE"
