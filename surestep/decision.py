"""A human's decision about one action (R13)."""

from enum import StrEnum

from pydantic import AwareDatetime, Field

from surestep.value import Value

TARGET_LIMIT = 400  # characters; the longest key has fewer


class Verdict(StrEnum):
    """What a human can say about an action that may have happened."""

    CONFIRM = "confirm"  # it happened
    RETRY = "retry"  # it did not happen; do it again
    ABANDON = "abandon"  # it did not happen; do not do it


class Decision(Value):
    """Who says what, and why.

    action            the actionId, or the action's name within the step
    by, note          who and why; recorded as claimed
    id                applied once; a second decision of the same id changes nothing
    version           the record version that the human saw; an older one is refused as stale
    receipt_id        with `confirm`: the service's own id of the effect
    accept_duplicate  with `retry`: go on even where no lookup can rule out a first effect
    """

    verdict: Verdict
    action: str | None = Field(default=None, max_length=TARGET_LIMIT)
    by: str = Field(default="", max_length=200)
    note: str = Field(default="", max_length=1000)
    id: str | None = Field(default=None, max_length=200)
    version: int | None = None
    receipt_id: str | None = Field(default=None, max_length=200)
    accept_duplicate: bool = False
    at: AwareDatetime | None = None

    @property
    def author(self) -> str:
        return self.by or "somebody who gave no name"


class Ruling(Value):
    """Whether a decision was taken, and in what words to say so."""

    taken: bool
    why: str
    version: int
    state: str
