"""What a service says by itself, for instance by webhook: it happened, or it failed."""

from pydantic import BaseModel, Field


class Notice(BaseModel):
    """A message of the service; fields that are not of these are left unread.

    key        the idempotency key that the service names; it must be one of ours
    signed_by, signature  whose key signed it, and the Ed25519 signature (docs/security.md)
    """

    key: str
    happened: bool = True
    id: str | None = Field(default=None, max_length=200)
    status: str | None = Field(default=None, max_length=200)
    why: str = Field(default="", max_length=1000)
    signed_by: str | None = Field(default=None, max_length=200)
    signature: str | None = Field(default=None, max_length=200)
