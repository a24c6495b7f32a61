"""Failures with their messages and stack traces encrypted, except for what says why they are."""

from temporalio.api.failure.v1 import Failure
from temporalio.converter import DefaultFailureConverterWithEncodedAttributes, PayloadConverter

from surestep.encryption.errors import EncryptionError


class EncryptedFailures(DefaultFailureConverterWithEncodedAttributes):
    """That a key is missing can be read in the Web UI by whoever has none; it tells no secret."""

    def to_failure(
        self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure
    ) -> None:
        super().to_failure(exception, payload_converter, failure)
        if isinstance(exception, EncryptionError):
            failure.ClearField("encoded_attributes")
            failure.message = str(exception)
