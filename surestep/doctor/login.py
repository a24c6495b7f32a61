"""The login at Temporal: certificates and API keys that are about to end."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from temporalio.service import TLSConfig

from surestep.connection import configured
from surestep.doctor.finding import Finding, ok, problem, warning
from surestep.doctor.patient import Patient
from surestep.doctor.retention import days
from surestep.errors import CannotConnect

CHECK = "login"
SOON = timedelta(days=14)

_MEANS = "From then on no worker, agent or person reaches the server; steps stand still."


async def check_login(patient: Patient) -> list[Finding]:
    try:
        config = configured() or {}
    except CannotConnect:  # the connection's own finding says why
        return []
    tls, key = config.get("tls"), config.get("api_key")
    ends = {}
    if isinstance(tls, TLSConfig) and tls.client_cert:
        ends["the client certificate"] = _end_of_certificate(tls.client_cert)
    if key:
        ends["the API key"] = _end_of_key(key)
    found = [_judged(patient, name, end) for name, end in ends.items()]
    return [one for one in found if one] or [ok(CHECK, _shown(ends))]


def _judged(patient: Patient, name: str, end: datetime | None) -> Finding | None:
    left = end - patient.clock() if end else None
    if left is None or left > SOON:
        return None
    remedy = "Make a new one, give it to every worker and agent, and restart them."
    if left <= timedelta(0):
        return problem(CHECK, f"{name} ended {days(-left)} ago", _MEANS, remedy)
    return warning(CHECK, f"{name} ends in {days(left)}", _MEANS, remedy)


def _shown(ends: dict[str, datetime | None]) -> str:
    if not ends:
        return "without a certificate or an API key"
    told = (
        f"{name} holds until {end:%Y-%m-%d}" if end else f"{name} does not say how long it holds"
        for name, end in ends.items()
    )
    return ", ".join(told)


def _end_of_certificate(pem: bytes) -> datetime | None:
    try:
        chain = x509.load_pem_x509_certificates(pem)
    except ValueError:
        return None
    return min((one.not_valid_after_utc for one in chain), default=None)


def _end_of_key(key: str) -> datetime | None:
    """Temporal Cloud's API keys are JWTs, which say it; read, not verified, and never shown."""
    try:
        body = key.split(".")[1]
        told: Any = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        return datetime.fromtimestamp(told["exp"], UTC)
    except (IndexError, KeyError, TypeError, ValueError, OverflowError):
        return None
