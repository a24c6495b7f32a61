"""A signature holds for one decision, word for word."""

from base64 import b64decode, b64encode
from datetime import UTC, datetime, timedelta, timezone

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surestep.decision import Decision, Verdict
from surestep.notice import Notice
from surestep.signature import (
    SigningError,
    fingerprint,
    fits,
    new_key,
    private_text,
    public_text,
    read_private,
    read_public,
    sign,
    sign_notice,
    statement,
)

from .people import ACTION, HASH, NOW, decision, key_of, signed

TEXTS = st.text(max_size=30)
TIMES = st.none() | st.datetimes(timezones=st.just(UTC))
FIELDS = {
    "verdict": st.sampled_from(Verdict),
    "action": st.none() | TEXTS,
    "by": TEXTS,
    "note": TEXTS,
    "id": st.none() | TEXTS,
    "version": st.none() | st.integers(-(10**6), 10**6),
    "input_hash": st.none() | TEXTS,
    "receipt_id": st.none() | TEXTS,
    "until": TIMES,
    "accept_duplicate": st.booleans(),
    "made_at": TIMES,
    "expires": TIMES,
    "key": st.none() | TEXTS,
    "signature": st.none() | TEXTS | st.binary(min_size=64, max_size=64).map(
        lambda raw: b64encode(raw).decode()
    ),
}  # fmt: skip
WHOLE = decision(
    "confirm",
    by="Ada",
    note="seen in the ledger",
    receipt_id="re_1",
    expires=NOW + timedelta(hours=1),
)


def test_every_field_that_says_something_is_signed() -> None:
    assert FIELDS.keys() | {"at"} == Decision.model_fields.keys()


# Hypothesis makes its table of all characters at the first text, which takes a second and more.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(FIELDS)).flatmap(lambda name: st.tuples(st.just(name), FIELDS[name])))
def test_no_change_of_any_field_of_a_signed_decision_survives(change: tuple[str, object]) -> None:
    name, value = change
    true = signed("Ada", WHOLE)
    false = true.model_copy(update={name: value})
    assert fits(false, key_of("Ada").public_key()) is (false == true)


@settings(deadline=None)
@given(st.integers(0, 63), st.integers(1, 255))
def test_no_change_of_a_byte_of_the_signature_survives(place: int, bits: int) -> None:
    true = signed("Ada")
    raw = bytearray(b64decode(true.signature or ""))
    raw[place] ^= bits
    false = true.model_copy(update={"signature": b64encode(raw).decode()})
    assert not fits(false, key_of("Ada").public_key())


def test_a_signature_has_one_spelling() -> None:
    true = signed("Ada")
    text = true.signature or ""
    assert text.endswith("==")
    last = text[-3]
    for other in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/":
        false = true.model_copy(update={"signature": f"{text[:-3]}{other}=="})
        assert fits(false, key_of("Ada").public_key()) is (other == last)
    for false_text in (text + "\n", text.rstrip("="), text.replace("=", "")):
        false = true.model_copy(update={"signature": false_text})
        assert not fits(false, key_of("Ada").public_key())


def test_a_signature_survives_the_wire_and_other_time_zones() -> None:
    true = signed("Ada", decision(made_at=NOW.replace(microsecond=7)))
    assert fits(Decision.model_validate_json(true.model_dump_json()), key_of("Ada").public_key())
    there = NOW.replace(microsecond=7).astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert fits(true.model_copy(update={"made_at": there}), key_of("Ada").public_key())


def test_the_statement_is_what_the_documentation_says() -> None:
    told = signed("Ada", decision("retry", by="Ada", note="„gone“", id="d-7", version=0))
    assert statement(told) == (
        b'{"action":"refund/order-7781/refund","by":"Ada","id":"d-7","input_hash":"v1:abc",'
        b'"key":"%s","made_at":"2026-03-01T11:55:00.000000Z","note":"\\u201egone\\u201c",'
        b'"statement":"surestep decision 1","verdict":"retry","version":0}'
        % fingerprint(key_of("Ada").public_key()).encode()
    )


def test_what_the_receiver_adds_is_not_signed() -> None:
    received = signed("Ada").model_copy(update={"at": NOW})
    assert fits(received, key_of("Ada").public_key())


@pytest.mark.parametrize("field", ["id", "version", "made_at"])
def test_a_decision_that_could_be_used_twice_is_not_signed(field: str) -> None:
    with pytest.raises(SigningError, match=f"must say its {field}"):
        signed("Ada", decision().model_copy(update={field: None}))


@pytest.mark.parametrize(("action", "arguments"), [("", HASH), (ACTION, "")])
def test_a_decision_about_nothing_is_not_signed(action: str, arguments: str) -> None:
    with pytest.raises(SigningError, match=r"action|input_hash"):
        sign(decision(), action_id=action, input_hash=arguments, key=key_of("Ada"))


def test_a_time_without_utc_does_not_fit_instead_of_raising() -> None:
    far = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
    false = signed("Ada").model_copy(update={"expires": far})
    assert not fits(false, key_of("Ada").public_key())


def test_keys_can_be_written_and_read_in_pem_and_in_base64() -> None:
    key = new_key()
    raw = b64encode(key.private_bytes_raw()).decode()
    for text in (private_text(key), raw, f"{raw}\n"):
        assert read_private(text).private_bytes_raw() == key.private_bytes_raw()
    public = key.public_key()
    pem = public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    ).decode()
    for text in (public_text(public), pem, f"\n{pem}"):
        assert read_public(text) == public


OTHER_KIND = generate_private_key(SECP256R1())
ENCRYPTED = new_key().private_bytes(
    serialization.Encoding.PEM,
    serialization.PrivateFormat.PKCS8,
    serialization.BestAvailableEncryption(b"word"),
)
FOREIGN = OTHER_KIND.private_bytes(
    serialization.Encoding.PEM,
    serialization.PrivateFormat.PKCS8,
    serialization.NoEncryption(),
)
FOREIGN_PUBLIC = OTHER_KIND.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "it has 0 bytes"),
        ("ada", "neither PEM nor base64"),
        ("kéy", "neither PEM nor base64"),
        ("AAAA", "it has 3 bytes, and an Ed25519 key has 32"),
        ("-----BEGIN PRIVATE KEY-----", "no private key in PEM"),
        (ENCRYPTED.decode(), "it is encrypted"),
        (FOREIGN.decode(), "another kind than Ed25519"),
    ],
)
def test_a_private_key_that_is_none_is_refused_with_the_reason(text: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        read_private(text)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("ada", "neither PEM nor base64"),
        (b64encode(bytes(32)).decode(), "a placeholder"),
        (private_text(key_of("Ada")), "it is a private key, which only its owner may have"),
        ("-----BEGIN PUBLIC KEY-----", "no public key in PEM"),
        (FOREIGN_PUBLIC.decode(), "another kind than Ed25519"),
    ],
)
def test_a_public_key_that_is_none_is_refused_with_the_reason(text: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        read_public(text)


def test_a_notice_is_signed_in_its_own_name_and_says_only_what_it_says() -> None:
    key = key_of("webhooks")
    said = sign_notice(Notice(key="refund/order-7781/refund", id="re_1"), key)
    name = fingerprint(key.public_key())
    assert statement(said).decode() == (
        f'{{"id":"re_1","key":"refund/order-7781/refund","signed_by":"{name}",'
        '"statement":"surestep notice 1"}'
    )
    assert fits(said, key.public_key())
    for change in ({"happened": False}, {"id": "re_2"}, {"key": "refund/order-7782/refund"}):
        assert not fits(said.model_copy(update=change), key.public_key())
