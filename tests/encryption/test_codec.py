"""What the codec makes of a payload, and what it refuses."""

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure

from surestep.encryption.codec import ENCODING, EncryptionCodec
from surestep.encryption.converter import data_converter
from surestep.encryption.errors import MissingKey, Unreadable
from surestep.encryption.key_ring import KeyRing
from tests.encryption.rings import FIRST, SECOND

PLAIN = Payload(metadata={"encoding": b"json/plain", "more": b"told"}, data=b'"4242"')
OVERHEAD = 140
"""Bytes by which a payload grows; far below every distance that we keep from a server's limit."""


@pytest.fixture
def ring(ring_file):
    return KeyRing.load(ring_file("ring").hold(FIRST, SECOND).path)


async def sealed(ring: KeyRing | None, payload: Payload = PLAIN) -> Payload:
    (made,) = await EncryptionCodec(ring).encode([payload])
    return made


async def test_a_payload_comes_back_with_its_metadata_and_says_nothing_meanwhile(ring):
    made = await sealed(ring)
    assert dict(made.metadata) == {"encoding": ENCODING, "key": b"second"}
    assert b"4242" not in made.SerializeToString()
    assert b"told" not in made.SerializeToString()
    assert await EncryptionCodec(ring).decode([made]) == [PLAIN]
    assert made.ByteSize() - PLAIN.ByteSize() < OVERHEAD


async def test_the_same_twice_looks_different(ring):
    assert (await sealed(ring)).data != (await sealed(ring)).data


async def test_what_is_encrypted_already_is_not_encrypted_again(ring):
    made = await sealed(ring)
    assert await sealed(ring, made) == made


@pytest.mark.parametrize("place", [0, 12, -1])
async def test_a_changed_byte_is_noticed(ring, place):
    made = await sealed(ring)
    data = bytearray(made.data)
    data[place] ^= 1
    made.data = bytes(data)
    with pytest.raises(Unreadable, match="was changed"):
        await EncryptionCodec(ring).decode([made])


async def test_a_payload_passes_for_no_other_key_and_no_other_length(ring):
    made = await sealed(ring)
    made.metadata["key"] = FIRST.encode()
    for forged in (
        made,
        Payload(metadata=made.metadata, data=b"short"),
        Payload(metadata=made.metadata),
    ):
        with pytest.raises(Unreadable):
            await EncryptionCodec(ring).decode([forged])


async def test_what_is_not_encrypted_is_passed_on(ring):
    assert await EncryptionCodec(ring).decode([PLAIN, await sealed(ring)]) == [PLAIN, PLAIN]


async def test_without_a_ring_nothing_is_encrypted_and_what_is_encrypted_is_refused(ring):
    assert await sealed(None) == PLAIN
    with pytest.raises(MissingKey, match=r"'second'.*SURESTEP_ENCRYPTION_KEYS is not set"):
        await EncryptionCodec(None).decode([await sealed(ring)])


async def test_a_failure_says_its_type_alone(ring):
    told, converter = Failure(), data_converter(ring)
    try:
        raise ValueError("card 4242")
    except ValueError as error:
        await converter.encode_failure(error, told)
    assert b"4242" not in told.SerializeToString()
    assert b"test_codec" not in told.SerializeToString()
    assert told.application_failure_info.type == "ValueError"
    decoded = await converter.decode_failure(told)
    assert "card 4242" in str(decoded)
