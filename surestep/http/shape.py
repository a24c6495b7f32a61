"""Where things stand in what a service says about one effect."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, auto
from typing import Any

from surestep.evidence import Receipt
from surestep.http import pointer
from surestep.http.pointer import ABSENT, Marker, Place, at, holds, text


class Standing(Enum):
    """What a service's own word for the state of an effect means."""

    SUCCEEDED = auto()
    PENDING = auto()
    FAILED = auto()
    OTHER = auto()  # a word that the tool does not know


@dataclass(frozen=True)
class States:
    """A service's words for the state of an effect; one that is not listed confirms nothing."""

    at: Place = "/status"
    succeeded: frozenset[str] = frozenset({"succeeded"})
    pending: frozenset[str] = frozenset({"pending"})
    failed: frozenset[str] = frozenset({"failed"})

    def __post_init__(self) -> None:
        pointer.check("States(at=…)", self.at)

    def word(self, document: Any) -> str:
        """The service's word, bounded; empty where there is none."""
        found = at(document, self.at)
        return found[:40] if isinstance(found, str) and found.isprintable() else ""

    def standing(self, document: Any) -> Standing:
        word = at(document, self.at)
        for standing, known in (
            (Standing.SUCCEEDED, self.succeeded),
            (Standing.PENDING, self.pending),
            (Standing.FAILED, self.failed),
        ):
            if isinstance(word, str) and word in known:
                return standing
        return Standing.OTHER


@dataclass(frozen=True)
class Shape:
    """How to read a receipt, in the answer to the request and in what a lookup lists.

    id       the service's id of the effect; None: it has none
    status   its decision in its own word; default: the word of `states`
    at       when: ISO 8601 with a zone, or seconds since 1970
    result   what the agent gets; default nothing. No secrets: it is recorded
    success  what a success must show beside the id
    states   for a service that shows effects that are not done, or failed
    empty    statuses that prove the effect without any body, such as 204
    """

    id: Place | None = "/id"
    status: Place | None = None
    at: Place | None = None
    result: Place | None = None
    success: Marker | None = None
    states: States | None = None
    empty: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        pointer.check("Shape", self.id, self.status, self.at, self.result)
        if isinstance(self.success, Mapping):
            pointer.check("Shape(success=…)", *self.success)

    @property
    def tells_success(self) -> bool:
        """Whether there is any sign by which a success differs from some other page."""
        return bool(self.id is not None or self.success or self.states or self.empty)

    def lacks(self, document: Any) -> str | None:
        """What of a success is not in the document; None: it proves the effect."""
        if document is ABSENT:
            return "no JSON"
        if self.id is not None and text(at(document, self.id)) is None:
            return "no id"
        if self.success is not None and not holds(document, self.success):
            return "no mark of success"
        if self.id is None and self.success is None and self.states is None:  # only `empty`
            return "nothing by which a success could be told"
        return None

    def standing(self, document: Any) -> Standing:
        return self.states.standing(document) if self.states else Standing.SUCCEEDED

    def receipt(self, document: Any) -> Receipt:
        """What is there of a receipt; nothing of it is required."""
        status = text(at(document, self.status)) if self.status is not None else None
        if status is None and self.states is not None:
            status = self.states.word(document) or None
        return Receipt(
            id=_bounded(text(at(document, self.id)) if self.id is not None else None),
            status=_bounded(status),
            at=_time(at(document, self.at)) if self.at is not None else None,
            result=_given(at(document, self.result)) if self.result is not None else None,
        )


def _bounded(value: str | None) -> str | None:
    return value[:500] if value else None


def _given(value: Any) -> Any:
    return None if value is ABSENT else value


def _time(value: Any) -> datetime | None:
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        when = datetime.fromisoformat(value)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return when if when.tzinfo else None
