"""Evidence: dated facts about one action. A record is the fold of its evidence."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field

from surestep.decision import Decision
from surestep.value import Value


class State(StrEnum):
    """Where an action stands."""

    PLANNED = "planned"
    SENT = "sent"
    ACCEPTED = "accepted"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    NOT_FOUND = "not_found"  # nothing happened and nothing will
    UNKNOWN = "unknown"
    COMPENSATED = "compensated"


class Receipt(Value):
    """What the service answered, reduced to proof.

    id      the service's own id of the effect
    status  the service's decision in its own word, such as "succeeded"
    at      when, by the service's clock
    result  JSON that the agent gets; bounded by the worker, never secrets
    """

    id: str | None = None
    status: str | None = None
    at: AwareDatetime | None = None
    result: Any = None


class Finding(StrEnum):
    """What a lookup saw: the three answers of `verify`, and two that a service gives itself."""

    CONFIRMED = "confirmed"
    NOT_FOUND = "not_found"
    UNKNOWN = "unknown"
    PENDING = "pending"  # the service holds our request and still works on it
    REJECTED = "rejected"  # the service holds our request and decided no


class Verification(Value):
    """The answer of `verify`. Build it with the functions below.

    matches  effects that carry our key, one receipt each
    differs  what in the match is not what we asked for (then nothing is confirmed)
    holds, missing  named parts of a compound effect
    """

    finding: Finding
    matches: tuple[Receipt, ...] = ()
    why: str = ""
    differs: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def trace(self) -> str | None:
        """Part of the effect, or a deviating one: enough to forbid a repeat, not a confirmation."""
        if self.differs:
            ids = ", ".join(match.id for match in self.matches if match.id)
            effect = f"an effect under our key{f', {ids},' if ids else ''}"
            return f"{effect} differs: {', '.join(self.differs)}"
        if self.holds:
            missing = ", ".join(self.missing) or "nothing"
            return f"holds: {', '.join(self.holds)}; missing: {missing}"
        return None


def confirmed(
    receipt: Receipt | None = None,
    *,
    matches: list[Receipt] | None = None,
    differs: list[str] | None = None,
) -> Verification:
    """The effect is there, under our key: `confirmed(receipt)` or `confirmed(matches=[…])`.

    No matches are no effect: `confirmed(matches=[])` is `not_found()`.
    """
    if matches is not None and not matches:
        return not_found()
    found = tuple(matches or ([receipt] if receipt else [Receipt()]))
    return Verification(finding=Finding.CONFIRMED, matches=found, differs=tuple(differs or ()))


def not_found() -> Verification:
    """The lookup could see, read to the end, and our key was not there."""
    return Verification(finding=Finding.NOT_FOUND)


def unknown(
    why: str, *, holds: list[str] | None = None, missing: list[str] | None = None
) -> Verification:
    """The lookup learned nothing, or only that a part of the effect holds."""
    return Verification(
        finding=Finding.UNKNOWN, why=why, holds=tuple(holds or ()), missing=tuple(missing or ())
    )


def pending(why: str, receipt: Receipt | None = None) -> Verification:
    """The service holds our request and has not decided yet."""
    matches = (receipt,) if receipt is not None else ()
    return Verification(finding=Finding.PENDING, why=why, matches=matches)


def rejected(why: str, receipt: Receipt | None = None) -> Verification:
    """The service holds our request and decided against it; nothing was applied."""
    matches = (receipt,) if receipt is not None else ()
    return Verification(finding=Finding.REJECTED, why=why, matches=matches)


class Sending(StrEnum):
    """How one attempt ended, by what it proves."""

    NOT_SENT = "not_sent"  # definite: no byte left
    REFUSED_FOR_NOW = "refused_for_now"  # definite: nothing applied, the same may be tried again
    REFUSED = "refused"  # definite: nothing applied, and a repeat would be refused as well
    AMBIGUOUS = "ambiguous"
    ACCEPTED = "accepted"  # taken for later
    ANSWERED = "answered"  # a success answer


class EarlierRun(Value):
    """An earlier run of the step may have sent since `since` (None: unknown).

    It had ended by `at`; an attempt of it that was under way may go on until its own deadline.
    """

    kind: Literal["earlier_run"] = "earlier_run"
    at: AwareDatetime
    since: AwareDatetime | None
    why: str


class Dispatched(Value):
    """An attempt was handed out; `at` is the earliest instant at which it can send."""

    kind: Literal["dispatched"] = "dispatched"
    at: AwareDatetime
    generation: int


class Attempted(Value):
    """The attempt in flight has ended.

    latest  the latest instant at which it can send; None: `at`. It is later where the attempt did
            not report itself, because its worker may go on until its own deadline
    """

    kind: Literal["attempted"] = "attempted"
    at: AwareDatetime
    latest: AwareDatetime | None = None
    outcome: Sending
    why: str = ""
    receipt: Receipt | None = None
    retry_after: float | None = None  # seconds, from the service


class Looked(Value):
    """A lookup. `started` is the earliest instant at which it can have read."""

    kind: Literal["looked"] = "looked"
    at: AwareDatetime
    started: AwareDatetime
    verification: Verification


class Noticed(Value):
    """The service told us, for instance by webhook."""

    kind: Literal["noticed"] = "noticed"
    at: AwareDatetime
    happened: bool
    receipt: Receipt
    why: str = ""


class Hinted(Value):
    """A notice that does not count, because nobody who may has signed it. `why`: in words."""

    kind: Literal["hinted"] = "hinted"
    at: AwareDatetime
    why: str


class Fenced(Value):
    """The answer of the receiver to the request to refuse this action from now on."""

    kind: Literal["fenced"] = "fenced"
    at: AwareDatetime
    held: bool
    exists: Receipt | None = None  # the effect was there already
    why: str = ""


class Decided(Value):
    """A human's decision arrived.

    objection  why it says nothing, whatever the record knows: its signature, its author, its age
    needs_another  one more person must say the same
    """

    kind: Literal["decided"] = "decided"
    at: AwareDatetime
    decision: Decision
    objection: str | None = None
    needs_another: bool = False


class Lapsed(Value):
    """A decision that was taken has expired before it could be carried out."""

    kind: Literal["lapsed"] = "lapsed"
    at: AwareDatetime


class Unreadable(Value):
    """Something came in as a decision that is none; it is recorded and changes nothing."""

    kind: Literal["unreadable"] = "unreadable"
    at: AwareDatetime
    why: str


class CancelRequested(Value):
    """Somebody asked Temporal to cancel the step."""

    kind: Literal["cancel_requested"] = "cancel_requested"
    at: AwareDatetime
    why: str = "the step was asked to cancel"


class Asked(Value):
    """A human was asked."""

    kind: Literal["asked"] = "asked"
    at: AwareDatetime
    why: str


class Notified(Value):
    """People were told of a question, by these targets; others could not be reached."""

    kind: Literal["notified"] = "notified"
    at: AwareDatetime
    told: tuple[str, ...] = ()
    why: str = ""


class Escalated(Value):
    """The question has stood for too long; somebody else is told."""

    kind: Literal["escalated"] = "escalated"
    at: AwareDatetime


class Compensated(Value):
    """The confirmed effect was undone by the action `{actionId}/undo`."""

    kind: Literal["compensated"] = "compensated"
    at: AwareDatetime
    receipt: Receipt


class Closed(Value):
    """The verdict on the action. Evidence that comes later is kept and can be an anomaly."""

    kind: Literal["closed"] = "closed"
    at: AwareDatetime
    state: State
    why: str


Evidence = Annotated[
    EarlierRun
    | Dispatched
    | Attempted
    | Looked
    | Noticed
    | Hinted
    | Fenced
    | Decided
    | Lapsed
    | Unreadable
    | CancelRequested
    | Asked
    | Notified
    | Escalated
    | Compensated
    | Closed,
    Field(discriminator="kind"),
]
