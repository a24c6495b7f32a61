"""The base of everything that is recorded."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """Immutable, and a misspelt field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
