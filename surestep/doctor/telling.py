"""Who is told of questions: each target as the worker would open it, and its host, if there is one.

Nothing is sent: a connection is opened and closed. docs/notifications.md has a test by hand.
"""

import asyncio
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from surestep.doctor.finding import Finding, ok, problem, some, warning
from surestep.doctor.patient import Patient
from surestep.doctor.place import unreachable
from surestep.mail.server import MailServer
from surestep.notification.channel import Channels
from surestep.notification.targets import Kind, Target
from surestep.settings import Settings, SettingsError

CHECK = "notifications"
LOOPBACK = ("127.0.0.1", "::1", "localhost")


async def check_telling(patient: Patient) -> list[Finding]:
    settings = patient.settings
    targets = dict.fromkeys((*settings.notify, *settings.notify_overdue))
    if not targets:
        return [_nobody(patient)]
    found = _secret(settings)
    for answers in await asyncio.gather(*(_told(settings, target) for target in targets)):
        found += answers
    return found or [ok(CHECK, f"{some([one.name for one in targets])} can be reached")]


def _nobody(patient: Patient) -> Finding:
    undos = [tool.undo for tool in patient.tools]
    asks = [
        tool.name
        for tool in patient.tools
        if tool not in undos and (tool.contract.ask or tool.contract.approval)
    ]
    if not asks:
        return ok(CHECK, "nobody is told (SURESTEP_NOTIFY): look at `starter.py unresolved`")
    return warning(
        CHECK,
        f"SURESTEP_NOTIFY is not set, and {some(asks)} asks people as a matter of course",
        "The questions stand in the list of `starter.py unresolved`, and nobody hears of them.",
        "Set SURESTEP_NOTIFY on the workers (docs/notifications.md), or alert on the list.",
    )


def _secret(settings: Settings) -> list[Finding]:
    alone = settings.model_copy(update={"notify": (), "notify_overdue": ()})
    try:
        Channels.of(alone)
    except SettingsError as error:
        return [_unusable(error)]
    return []


def _unusable(error: SettingsError) -> Finding:
    what, _, remedy = str(error).partition(". ")
    return problem(CHECK, what, "A worker with these settings refuses to start.", remedy)


async def _told(settings: Settings, target: Target) -> list[Finding]:
    alone = settings.model_copy(
        update={"notify": (target,), "notify_overdue": (), "notify_secret": None}
    )
    try:
        Channels.of(alone)
    except SettingsError as error:
        return [_unusable(error)]
    match target.kind:
        case Kind.COMMAND:
            return []
        case Kind.WEBHOOK:
            parts = urlsplit(target.place)
            host = parts.hostname or ""
            port = parts.port or (443 if parts.scheme == "https" else 80)
            clear = _in_the_clear(target, parts.scheme, host)
            by_proxy = parts.scheme in getproxies() and not proxy_bypass(host)
            return clear if by_proxy else [*clear, *await _reach(target, host, port)]
        case Kind.LETTER:
            server = MailServer.from_url(settings.smtp or "")
            return await _reach(target, server.host, server.port)


def _in_the_clear(target: Target, scheme: str, host: str) -> list[Finding]:
    if scheme == "https" or host in LOOPBACK:
        return []
    return [
        warning(
            CHECK,
            f"{target.name} is told over plain HTTP",
            "Whoever is on the way reads which action is in doubt, and the address, which may be "
            "the password.",
            "Use https://.",
        )
    ]


async def _reach(target: Target, host: str, port: int) -> list[Finding]:
    why = await unreachable(host, port)
    if why is None:
        return []
    return [
        problem(
            CHECK,
            f"{target.name}: {host}:{port} cannot be reached from here ({why})",
            "Questions reach nobody by this way.",
            "Start it, correct the target, or let this machine through to it.",
        )
    ]
