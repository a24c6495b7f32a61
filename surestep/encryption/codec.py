"""The payload codec: AES-256-GCM under the ring's current key, whose id travels in the clear."""

import asyncio
import logging
import os
import time
from collections.abc import Sequence
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from google.protobuf.message import DecodeError
from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    ActivitySerializationContext,
    PayloadCodec,
    SerializationContext,
    WithSerializationContext,
)

from surestep.encryption.errors import EncryptionError, MissingKey, Unreadable
from surestep.encryption.key_ring import KeyRing
from surestep.protocol import EXECUTE

ENCODING: Final = b"binary/surestep-aes256gcm"
KEY_ID: Final = "key"
NONCE_BYTES: Final = 12

NO_RING: Final = (
    "this process does not have, because SURESTEP_ENCRYPTION_KEYS is not set. Set it to the key "
    "ring's file"
)

# An attempt that has left no mark ends after its heartbeat timeout of ten seconds, and then it is
# proven that nothing was sent. A failure that came sooner would leave it in doubt.
WAITS_FOR_A_KEY: Final = 15.0  # seconds
LOOKS_EVERY: Final = 1.0

logger = logging.getLogger("surestep.encryption")


class EncryptionCodec(PayloadCodec, WithSerializationContext):
    """Encrypts what leaves the process, and decrypts what comes.

    What is not encrypted is passed on as it is: a signal from the Web UI, a history from before
    encryption was switched on. Without a ring nothing is encrypted, and what is encrypted is
    refused, so that no step is taken for invalid by a worker that cannot read it.

    `decode` raises MissingKey and Unreadable.
    """

    def __init__(self, ring: KeyRing | None, *, patient: bool = False) -> None:
        """`patient`: wait for a missing key as long as an attempt that has not begun may last."""
        self._ring = ring
        self._patient = patient

    def with_context(self, context: SerializationContext) -> "EncryptionCodec":
        """A worker that is handed an attempt waits for its key; see WAITS_FOR_A_KEY.

        A workflow's own view of that activity has no activity id, and must not wait.
        """
        attempt = (
            isinstance(context, ActivitySerializationContext)
            and context.activity_type == EXECUTE
            and context.activity_id
            and context.workflow_id
        )
        return EncryptionCodec(self._ring, patient=True) if attempt else self

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Each payload encrypted, with its metadata. One that is encrypted already stays so."""
        if self._ring is None:
            return list(payloads)
        key_id, cipher = self._ring.current()
        encoded = []
        for payload in payloads:
            if is_encrypted(payload):
                encoded.append(payload)
                continue
            nonce = os.urandom(NONCE_BYTES)
            sealed = cipher.encrypt(nonce, payload.SerializeToString(), _associated(key_id))
            metadata = {"encoding": ENCODING, KEY_ID: key_id.encode()}
            encoded.append(Payload(metadata=metadata, data=nonce + sealed))
        return encoded

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Each payload as it was before it was encrypted."""
        return await self._patiently(payloads) if self._patient else self._opened(payloads)

    def _opened(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._open(payload) if is_encrypted(payload) else payload for payload in payloads]

    def _open(self, payload: Payload) -> Payload:
        key_id, cipher = key_id_of(payload), self._cipher(payload)
        nonce, sealed = payload.data[:NONCE_BYTES], payload.data[NONCE_BYTES:]
        try:
            return Payload.FromString(cipher.decrypt(nonce, sealed, _associated(key_id)))
        except (InvalidTag, ValueError, DecodeError):
            raise Unreadable(
                f"a payload that names the key {key_id!r} was changed, or the file here has "
                "another key of this id: compare it with the file of whoever wrote the payload"
            ) from None

    def _cipher(self, payload: Payload) -> AESGCM:
        if self._ring is None:
            raise MissingKey(key_id_of(payload), NO_RING)
        return self._ring.cipher(key_id_of(payload))

    async def _patiently(self, payloads: Sequence[Payload]) -> list[Payload]:
        """As soon as every key is here. No failure or cancellation ends it before its time."""
        until, told = time.monotonic() + WAITS_FOR_A_KEY, False
        cancelled: asyncio.CancelledError | None = None
        while True:
            try:
                opened = self._opened(payloads)
                if cancelled is None:
                    return opened
            except EncryptionError as error:
                if not told:
                    logger.error("an attempt that was not begun waits for its key: %s", error)
                told = True
                if time.monotonic() > until:
                    raise
            if cancelled and time.monotonic() > until:
                raise cancelled
            try:
                await asyncio.sleep(LOOKS_EVERY)
            except asyncio.CancelledError as error:
                cancelled = error


def is_encrypted(payload: Payload) -> bool:
    """Whether the codec made it."""
    return payload.metadata.get("encoding") == ENCODING


def key_id_of(payload: Payload) -> str:
    """The id of the key of an encrypted payload, fit to be shown."""
    return payload.metadata.get(KEY_ID, b"").decode("ascii", "replace")[:64]


def _associated(key_id: str) -> bytes:
    """What a ciphertext is bound to: it can be passed off for no other encoding or key."""
    return ENCODING + b"\0" + key_id.encode()
