"""The codec server: whether it answers, and opens what the key ring here has sealed."""

from datetime import timedelta
from urllib.parse import urlsplit

import httpx
from google.protobuf.json_format import MessageToDict, Parse, ParseError
from temporalio.api.common.v1 import Payload, Payloads

from surestep.doctor.finding import Finding, ok, problem, warning
from surestep.doctor.patient import Patient
from surestep.encryption.codec import EncryptionCodec
from surestep.encryption.errors import EncryptionError, KeyFileError
from surestep.encryption.key_ring import KeyRing

CHECK = "codec"
ANSWERS_WITHIN = timedelta(seconds=5)

PROBE = Payload(metadata={"encoding": b"json/plain"}, data=b'"the doctor was here"')

_MEANS = "In the Web UI and the command line, people see ciphertext instead of what happened."
LOOPBACK = ("127.0.0.1", "::1", "localhost")
_LOGIN = (401, 403)


async def check_codec(patient: Patient) -> list[Finding]:
    return [*_readers(patient), *await _server(patient)]


def _readers(patient: Patient) -> list[Finding]:
    """The file of those who may decode, where this machine is to serve them."""
    file = patient.settings.codec_readers
    if file is None:
        return []
    try:
        from surestep.encryption.readers import Readers

        Readers.load(file)
    except ImportError:
        what, remedy = "SURESTEP_CODEC_READERS needs more packages", "pip install 'surestep[codec]'"
    except EncryptionError as error:
        what, _, remedy = str(error).rpartition(": ")
    else:
        return []
    means = "The codec server refuses to start with it."
    return [problem(CHECK, f"{what} (SURESTEP_CODEC_READERS)", means, f"{remedy}.")]


async def _server(patient: Patient) -> list[Finding]:
    url = patient.settings.codec
    if url is None:
        if patient.settings.encryption_keys is None:
            return [ok(CHECK, "none is needed: nothing is encrypted")]
        return [
            warning(
                CHECK,
                "payloads are encrypted, and SURESTEP_CODEC is not set here",
                "Whether people can read them in the Web UI is not checked.",
                "Run `starter.py codec` somewhere, and set SURESTEP_CODEC to where it is reached.",
            )
        ]
    async with httpx.AsyncClient(
        timeout=ANSWERS_WITHIN.total_seconds(), follow_redirects=False
    ) as http:
        try:
            health = await http.get(f"{url}/health")
        except httpx.HTTPError as error:
            return [_unreachable(url, type(error).__name__)]
        if health.status_code != httpx.codes.OK:
            return [_unreachable(url, f"/health answers {health.status_code}")]
        return [await _round_trip(patient, http, url)]


def _unreachable(url: str, why: str) -> Finding:
    return problem(
        CHECK,
        f"{url} is not there as it should be: {why}",
        _MEANS,
        "Start it with `python starter.py codec`, or correct SURESTEP_CODEC.",
    )


async def _round_trip(patient: Patient, http: httpx.AsyncClient, url: str) -> Finding:
    file = patient.settings.encryption_keys
    if file is None:
        return ok(CHECK, f"{url} answers; without SURESTEP_ENCRYPTION_KEYS no more can be asked")
    try:
        sealed = await EncryptionCodec(KeyRing.load(file)).encode([PROBE])
    except KeyFileError:  # the key ring's own check says why
        return ok(CHECK, f"{url} answers; what it opens was not asked, for want of keys here")
    body = MessageToDict(Payloads(payloads=sealed))
    try:
        answer = await http.post(
            f"{url}/decode", json=body, headers={"X-Namespace": _namespace(patient)}
        )
        if answer.status_code in _LOGIN:
            return ok(CHECK, f"{url} answers, and asks who is there before it opens anything")
        opened = list(Parse(answer.text, Payloads()).payloads) if answer.is_success else []
    except (httpx.HTTPError, ParseError):
        opened = []
    if opened == [PROBE] and urlsplit(url).hostname in LOOPBACK:
        return ok(CHECK, f"{url} opens what the keys here have sealed")
    if opened == [PROBE]:
        return warning(
            CHECK,
            f"{url} opens payloads for anybody who asks",
            "Whoever reaches it and the namespace reads every argument and result.",
            "Let it ask who is there: SURESTEP_CODEC_READERS (docs/encryption.md).",
        )
    return problem(
        CHECK,
        f"{url} does not open what the keys here have sealed",
        _MEANS,
        "Give it the same SURESTEP_ENCRYPTION_KEYS as the workers.",
    )


def _namespace(patient: Patient) -> str:
    return patient.client.namespace if patient.client else "default"
