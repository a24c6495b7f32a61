"""The doctor and the login at Temporal."""

import base64
import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding

from surestep.doctor.finding import Level
from surestep.doctor.login import check_login
from surestep.doctor.patient import Patient, now
from surestep.signature import private_text

from .finding import only

pytestmark = pytest.mark.asyncio(loop_scope="session")


def certificate(folder: Path, lasts: timedelta) -> dict[str, str]:
    """A client certificate and its key, as Temporal's variables name them."""
    key = Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "worker")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now() - timedelta(days=90))
        .not_valid_after(now() + lasts)
        .sign(key, None)
    )
    cert, private = folder / "cert.pem", folder / "key.pem"
    cert.write_bytes(made.public_bytes(Encoding.PEM))
    private.write_text(private_text(key))
    return {
        "TEMPORAL_TLS_CLIENT_CERT_PATH": str(cert),
        "TEMPORAL_TLS_CLIENT_KEY_PATH": str(private),
    }


def api_key(ends: datetime) -> str:
    body = base64.urlsafe_b64encode(json.dumps({"exp": int(ends.timestamp())}).encode()).decode()
    return f"e30.{body.rstrip('=')}.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("days", "level", "words"),
    [(60, Level.OK, "holds until"), (5, Level.WARNING, "ends in"), (-3, Level.PROBLEM, "ended 3")],
)
async def test_the_doctor_says_when_a_login_is_about_to_end(
    tmp_path, monkeypatch, days, level, words
):
    lasts = timedelta(days=days)
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    monkeypatch.setenv("TEMPORAL_API_KEY", api_key(now() + lasts))
    of_key = only(await check_login(Patient()))
    monkeypatch.delenv("TEMPORAL_API_KEY")
    for name, value in certificate(tmp_path, lasts).items():
        monkeypatch.setenv(name, value)
    of_certificate = only(await check_login(Patient()))
    for found in (of_key, of_certificate):
        assert found.level is level
        assert words in found.what
        assert "e30." not in found.what
