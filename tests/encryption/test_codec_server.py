"""Who may decode, from where, and what stays behind: an audit line, and no word of what it was."""

import json
import time

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from google.protobuf.json_format import MessageToDict
from temporalio.api.common.v1 import Payload, Payloads

from surestep.encryption.codec import EncryptionCodec
from surestep.encryption.codec_server import BODY_LIMIT, CodecServer
from surestep.encryption.key_ring import KeyRing
from surestep.encryption.readers import Readers, ReadersError, new_token, token_digest
from tests.encryption.rings import FIRST, SECOND

UI = "https://temporal.example.com"
SECRET = Payload(metadata={"encoding": b"json/plain"}, data=b'"planted"')
TOKEN = new_token()
ISSUER = ec.generate_private_key(ec.SECP256R1())
STRANGER = ec.generate_private_key(ec.SECP256R1())
CLAIMS = {"iss": "https://login.example.com/", "aud": "temporal", "sub": "ada"}

READERS = f"""
[readers.grace]
tokens = ["{token_digest(TOKEN)}"]

[login]
issuer = "https://login.example.com/"
audience = "temporal"
keys = "issuer.pem"
allowed = ["ada"]
"""


@pytest.fixture
def readers(tmp_path):
    public = ISSUER.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    (tmp_path / "issuer.pem").write_bytes(public)
    path = tmp_path / "readers.toml"
    path.write_text(READERS)
    return Readers.load(path)


@pytest.fixture
def ring(ring_file):
    return KeyRing.load(ring_file("server").hold(FIRST).path)


@pytest.fixture
def audited(caplog):
    """The audit lines so far, as objects."""
    caplog.set_level("INFO", "surestep.codec")
    return lambda: [json.loads(one.getMessage()) for one in caplog.records]


def asking(server: CodecServer, host: str = "codec.example.com") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(server.app())
    return httpx.AsyncClient(transport=transport, base_url=f"https://{host}")


async def body(ring: KeyRing, *payloads: Payload) -> dict:
    return MessageToDict(Payloads(payloads=await EncryptionCodec(ring).encode(payloads)))


def login(key=ISSUER, algorithm="ES256", **claims) -> str:
    told = {**CLAIMS, "exp": time.time() + 300} | claims
    return jwt.encode({name: value for name, value in told.items() if value}, key, algorithm)


@pytest.mark.parametrize("who", ["grace", "ada"])
async def test_a_reader_decodes_and_is_named_in_the_audit_line(ring, readers, audited, who):
    token = TOKEN if who == "grace" else login()
    headers = {"Authorization": f"Bearer {token}", "X-Namespace": "billing", "Origin": UI}
    async with asking(CodecServer(ring, readers, [UI])) as http:
        sealed = await body(ring, SECRET, SECRET)
        answer = await http.post("/decode?preserveStorageRefs=true", json=sealed, headers=headers)
        assert answer.status_code == 200
        assert answer.json() == MessageToDict(Payloads(payloads=[SECRET, SECRET]))
        assert answer.headers["access-control-allow-origin"] == UI
        assert answer.headers["cache-control"] == "no-store"
    assert audited() == [
        {
            "what": "decode",
            "who": who,
            "namespace": "billing",
            "payloads": 2,
            "keys": [FIRST],
            "outcome": "done",
        }
    ]


async def test_what_a_reader_encodes_is_read_again(ring, readers):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    plain = MessageToDict(Payloads(payloads=[SECRET]))
    async with asking(CodecServer(ring, readers, [])) as http:
        sealed = (await http.post("/encode", json=plain, headers=headers)).json()
        assert "planted" not in json.dumps(sealed)
        assert (await http.post("/billing/decode", json=sealed, headers=headers)).json() == plain


STRANGERS = {
    "nobody": "",
    "another scheme": f"Basic {TOKEN}",
    "another token": f"Bearer {new_token()}",
    "the digest itself": f"Bearer {token_digest(TOKEN)}",
    "another issuer's key": f"Bearer {login(STRANGER)}",
    "expired": f"Bearer {login(exp=time.time() - 60)}",
    "for ever": f"Bearer {login(exp=None)}",
    "for another audience": f"Bearer {login(aud='other')}",
    "from another issuer": f"Bearer {login(iss='other')}",
    "one who may not": f"Bearer {login(sub='eve')}",
    "unsigned": f"Bearer {jwt.encode({**CLAIMS, 'exp': time.time() + 60}, None, 'none')}",
}


@pytest.mark.parametrize("stranger", STRANGERS)
async def test_a_stranger_is_refused_and_audited(ring, readers, audited, stranger):
    async with asking(CodecServer(ring, readers, [UI])) as http:
        headers = {"Authorization": STRANGERS[stranger]}
        answer = await http.post("/decode", json=await body(ring, SECRET), headers=headers)
    assert answer.status_code == 401
    assert "planted" not in answer.text
    (line,) = audited()
    assert (line["who"], line["payloads"]) == ("unknown", 0)
    assert line["outcome"].startswith("refused")


async def test_only_the_pages_of_the_web_ui_may_ask(ring, readers):
    asked = {"Access-Control-Request-Method": "POST"}
    wanted = {"Access-Control-Request-Headers": "authorization,content-type,x-namespace"}
    async with asking(CodecServer(ring, readers, [UI])) as http:
        ours = await http.options("/decode", headers={"Origin": UI} | asked | wanted)
        assert ours.status_code == 200
        assert ours.headers["access-control-allow-origin"] == UI
        assert "access-control-allow-credentials" not in ours.headers
        evil = {"Origin": "https://evil.example"}
        theirs = await http.options("/decode", headers=evil | asked | wanted)
        assert theirs.status_code == 400
        assert "access-control-allow-origin" not in theirs.headers
        headers = evil | {"Authorization": f"Bearer {TOKEN}"}
        answer = await http.post("/decode", json=await body(ring, SECRET), headers=headers)
        assert answer.status_code == 403


async def test_without_readers_only_the_names_of_loopback_are_answered(ring, audited):
    server = CodecServer(ring, None, [])
    async with asking(server, "127.0.0.1") as http:
        assert (await http.post("/decode", json=await body(ring, SECRET))).status_code == 200
        plain = await http.post("/decode", content=json.dumps(await body(ring, SECRET)))
        assert plain.status_code == 415
    async with asking(server, "rebound.example") as http:
        assert (await http.post("/decode", json=await body(ring, SECRET))).status_code == 403
        assert (await http.get("/health")).json() == {"status": "ok"}
    assert audited()[0]["who"] == "anybody on this host"


async def test_what_cannot_be_decoded_is_answered_without_a_word_of_it(
    ring, readers, ring_file, audited
):
    other = KeyRing.load(ring_file("other").hold(SECOND).path)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    changed = await EncryptionCodec(ring).encode([SECRET])
    changed[0].data = changed[0].data[:-1] + b"x"
    async with asking(CodecServer(ring, readers, [])) as http:
        wrong = [
            (422, json.dumps(await body(other, SECRET))),
            (422, json.dumps(MessageToDict(Payloads(payloads=changed)))),
            (400, "{"),
            (400, '{"payloads": 7}'),
            (413, b" " * (BODY_LIMIT + 1)),
        ]
        answers = [await http.post("/decode", content=one, headers=headers) for _, one in wrong]
    assert [one.status_code for one in answers] == [status for status, _ in wrong]
    assert answers[0].json() == {"message": "MissingKey: of the key second"}
    assert [one["outcome"].partition(":")[0] for one in audited()] == [
        "MissingKey",
        "Unreadable",
        "refused",
        "refused",
        "refused",
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "names nobody: add"),
        ("[readers.ada]\ntokens = ['secret']", "readers.ada.tokens.0"),
        ("[reader.ada]\ntokens = []", "reader: Extra inputs"),
        (
            "[login]\nissuer = 'i'\naudience = 'a'\nkeys = 'none.pem'\nallowed = ['*']",
            "none.pem: No",
        ),
        (
            "[login]\nissuer = 'i'\naudience = 'a'\nkeys = 'none.pem'",
            "login.allowed: Field required",
        ),
    ],
)
def test_a_wrong_file_of_readers_is_refused_with_its_field(tmp_path, text, complaint):
    path = tmp_path / "readers.toml"
    path.write_text(text)
    with pytest.raises(ReadersError, match=complaint) as refused:
        Readers.load(path)
    assert str(path) in str(refused.value)
    assert "secret" not in str(refused.value)
