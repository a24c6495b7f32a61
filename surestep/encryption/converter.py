"""The data converter of every client and worker: pydantic's, with encryption where there is a ring.

A program of yours that starts steps, or reads them, through Temporal's own client needs the same:

    ring = KeyRing.load(Path("/run/secrets/surestep-keys.toml"))
    client = await Client.connect(address, data_converter=data_converter(ring))
"""

import logging
from dataclasses import replace

from temporalio.converter import DataConverter

from surestep.encryption.codec import EncryptionCodec
from surestep.encryption.failures import EncryptedFailures
from surestep.encryption.key_ring import KeyRing
from surestep.payloads import PLAIN
from surestep.settings import Settings

logger = logging.getLogger("surestep.encryption")


def data_converter(ring: KeyRing | None) -> DataConverter:
    """With a ring, all payloads and the messages and stack traces of failures are encrypted.

    Without one nothing is, and encrypted payloads are refused with MissingKey.
    """
    made = replace(PLAIN, payload_codec=EncryptionCodec(ring))
    if ring is None:
        return made
    return replace(made, failure_converter_class=EncryptedFailures)


def configured_converter(settings: Settings) -> DataConverter:
    """The converter for the ring that SURESTEP_ENCRYPTION_KEYS names. Raises KeyFileError."""
    if settings.encryption_keys is None:
        logger.info("payloads are not encrypted: SURESTEP_ENCRYPTION_KEYS is not set")
        return data_converter(None)
    ring = KeyRing.load(settings.encryption_keys)
    logger.info("payloads are encrypted: %r", ring)
    return data_converter(ring)
