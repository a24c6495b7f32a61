"""The report: promise by promise, what was done, what was seen, and the verdict."""

from enum import StrEnum
from typing import Any

from surestep.conformance.promise import Promise
from surestep.value import Value


class Judgement(StrEnum):
    """The verdict on one promise."""

    KEPT = "kept"
    BROKEN = "broken"
    NOT_TESTED = "not tested"


class Row(Value):
    """One promise against the behaviour.

    says    the promise in words
    done    what the check did; empty where it did nothing
    seen    what came of it, or why it was not tested
    remedy  what to change in the tool or its contract, if the promise is broken
    """

    promise: Promise
    says: str = ""
    done: str = ""
    seen: str
    verdict: Judgement
    remedy: str = ""


def kept(promise: Promise, done: str, seen: str) -> Row:
    return Row(promise=promise, done=done, seen=seen, verdict=Judgement.KEPT)


def broken(promise: Promise, done: str, seen: str, remedy: str) -> Row:
    return Row(promise=promise, done=done, seen=seen, verdict=Judgement.BROKEN, remedy=remedy)


def not_tested(promise: Promise, why: str, done: str = "") -> Row:
    return Row(promise=promise, done=done, seen=why, verdict=Judgement.NOT_TESTED)


class Left(Value):
    """An effect that the check has left in the sandbox. `id`: the service's; None: not known."""

    key: str
    id: str | None = None


class Report(Value):
    """What a check found. `str(report)` is the table, 80 columns wide.

    effects  how many effects are known to have been made
    undone   how many of them were compensated
    left     the others, and what may be one: as complete as the tool can tell
    """

    tool: str
    run: str
    rows: tuple[Row, ...]
    effects: int
    undone: int
    left: tuple[Left, ...]

    @property
    def ok(self) -> bool:
        """No promise was seen broken; what was not tested is not counted."""
        return not self.broken

    @property
    def broken(self) -> tuple[Row, ...]:
        return self.of(Judgement.BROKEN)

    def of(self, *verdicts: Judgement) -> tuple[Row, ...]:
        """The rows of these verdicts."""
        return tuple(row for row in self.rows if row.verdict in verdicts)

    def __getitem__(self, promise: Promise | str) -> Row:
        return next(row for row in self.rows if row.promise == promise)

    def document(self) -> dict[str, Any]:
        """The report as JSON: fields may be added, never changed."""
        plain = self.model_dump(mode="json")
        return {"tool": plain.pop("tool"), "run": plain.pop("run"), "ok": self.ok, **plain}

    def __str__(self) -> str:
        from surestep.conformance.table import text  # rich is for those who print

        return text(self)
