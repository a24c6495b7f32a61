"""A human's decision about one action (R13, R19)."""

from enum import StrEnum
from typing import Final, Self

from pydantic import AwareDatetime, Field, field_validator, model_validator

from surestep.value import Value

TARGET_LIMIT = 400  # characters; the longest key has fewer


YOUR_NAME: Final = "YOUR NAME"
HOW_YOU_KNOW: Final = "HOW YOU KNOW"
SERVICE_ID: Final = "SERVICE-ID"
"""What stands in a block to paste where a person must put something in."""


class Verdict(StrEnum):
    """What a human can say about an action."""

    CONFIRM = "confirm"  # it happened
    RETRY = "retry"  # it did not happen; do it again
    ABANDON = "abandon"  # it did not happen; do not do it
    KEEP_LOOKING = "keep_looking"  # ask again at a later time
    LEAVE_UNKNOWN = "leave_unknown"  # nobody will ever know; go on with that
    UNDO = "undo"  # it happened, and is to be undone
    APPROVE = "approve"  # it may be done, once, with exactly these arguments
    REFUSE = "refuse"  # it must not be done


class Decision(Value):
    """Who says what, and why.

    action            the actionId, or the action's name within the step
    by, note          who and why; recorded as claimed, unless the decision is signed
    id                applied once; a second decision of the same id changes nothing
    version           the record version that the human saw; an older one is refused as stale, and
                      what sends, or settles for good, is refused without one
    input_hash        the arguments that the human saw
    receipt_id        with `confirm`: the service's own id of the effect
    until             with `keep_looking`: when a human is asked again
    accept_duplicate  with `retry`: go on even where no lookup can rule out a first effect
    made_at, expires  when it was made, and from when on it says nothing any more, also where it
                      was taken and has not been carried out
    key, signature    whose key signed it, and the Ed25519 signature in base64 (docs/security.md)
    at                set on receipt
    """

    verdict: Verdict
    action: str | None = Field(default=None, max_length=TARGET_LIMIT)
    by: str = Field(default="", max_length=200)
    note: str = Field(default="", max_length=1000)
    id: str | None = Field(default=None, max_length=200)
    version: int | None = None
    input_hash: str | None = Field(default=None, max_length=200)
    receipt_id: str | None = Field(default=None, max_length=200)
    until: AwareDatetime | None = None
    accept_duplicate: bool = False
    made_at: AwareDatetime | None = None
    expires: AwareDatetime | None = None
    key: str | None = Field(default=None, max_length=200)
    signature: str | None = Field(default=None, max_length=200)
    at: AwareDatetime | None = None

    @property
    def author(self) -> str:
        return self.by or "somebody who gave no name"

    @field_validator("by", "note", "receipt_id")
    @classmethod
    def _is_filled_in(cls, value: str | None) -> str | None:
        if value in (YOUR_NAME, HOW_YOU_KNOW, SERVICE_ID):
            raise ValueError(f"{value!r} stands for something that you must put in")
        return value

    @model_validator(mode="after")
    def _fields_fit_the_verdict(self) -> Self:
        if (self.until is None) == (self.verdict is Verdict.KEEP_LOOKING):
            raise ValueError(
                "keep_looking needs `until`, such as 2027-01-31T09:00:00Z"
                if self.until is None
                else f"`until` belongs to keep_looking, not to {self.verdict}"
            )
        if self.receipt_id is not None and self.verdict is not Verdict.CONFIRM:
            raise ValueError(f"`receipt_id` belongs to confirm, not to {self.verdict}")
        return self


class Approval(Value):
    """A human's yes to one action, bound to its arguments, good for one effect (R19)."""

    by: str
    at: AwareDatetime
    expires: AwareDatetime | None = None


class Ruling(Value):
    """Whether a decision was taken, and in what words to say so.

    block  what to send instead, once one has looked, where only the version is missing
    """

    taken: bool
    why: str
    version: int
    state: str
    block: str | None = None
