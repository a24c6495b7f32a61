"""The rows: every fault of the world, with parameters on both sides of every limit."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from surestep.testing.faults import (
    LOOKUP_FAULTS,
    WRITE_FAULTS,
    Chosen,
    Commit,
    LookupFault,
    WriteFault,
    lookup_fault,
    write_fault,
)

SOON, LATER, MUCH_LATER = "0.5", "3.5", "30"
"""Before a tool gives up; after that but within Δ; beyond Δ, counted from when it gave up."""

BEYOND_A_SHORT_LIFE: Final = "45"

FOR_EVER: Final = 60  # requests; no cell makes as many
AT_FIRST: Final = 1  # look, right after the attempt has ended

PARAMETERS: Final = {
    "late": (LATER, BEYOND_A_SHORT_LIFE),
    "late_hang": (LATER, MUCH_LATER),
    "slow": (SOON, LATER),
    "slow_commit": (SOON, LATER),
    "drip": (SOON, LATER),
    "rate_limited": ("1",),
    "accepted": ("1",),
    "accepted_fails": ("1",),
    "error_before": ("500", "503", "404", "409"),
    "error_after": ("500", "409", "422", "429"),
    "refuse": ("422", "401", "409"),
    "redirect": ("303", "307"),
    "redirect_uncommitted": ("307",),
    "huge": ("3000000",),
    "error": ("500", "404"),
}
LASTING: Final = ("reply_lost", "never_arrives", "hang", "error_before:503", "refuse:422")


@dataclass(frozen=True)
class Row:
    """What the requests of one action meet.

    write         the first request that writes; all of them where it is `lasting`
    then          the requests that write after it, which are honest otherwise
    look          the first look after the write
    look_lasting  all of them, not only the first
    """

    write: str
    lasting: bool = False
    then: tuple[str, ...] = ()
    look: str | None = None
    look_lasting: bool = False

    @property
    def name(self) -> str:
        write = f"{self.write} ∞" if self.lasting else ", ".join((self.write, *self.then))
        if self.look is None:
            return write
        return f"{write}; look {self.look}{' ∞' if self.look_lasting else ''}"

    @property
    def writes(self) -> list[str]:
        return [self.write] * FOR_EVER if self.lasting else [self.write, *self.then]

    @property
    def looks(self) -> list[str]:
        if self.look is None:
            return []
        return [self.look] * (FOR_EVER if self.look_lasting else AT_FIRST)

    @property
    def chosen(self) -> Chosen[WriteFault]:
        return write_fault(self.write)

    @property
    def chosen_look(self) -> Chosen[LookupFault] | None:
        return None if self.look is None else lookup_fault(self.look)

    @property
    def applies(self) -> bool:
        """Whether the first request has an effect, at some time."""
        return self.chosen.fault.commit not in (Commit.NEVER, Commit.QUEUED_IN_VAIN)

    def lands(self, works: float) -> float:
        """Seconds from the arrival of a request to its effect; `works`: the service's own."""
        match self.chosen.fault.commit:
            case Commit.ON_ARRIVAL | Commit.IN_PROGRESS | Commit.BEFORE_ANSWER:
                return self.chosen.amount + works
            case Commit.QUEUED:
                return self.chosen.amount
            case _:
                return works


def _texts(known: dict[str, object]) -> Iterator[str]:
    for name in known:
        yield from (
            (f"{name}:{value}" for value in PARAMETERS[name]) if name in PARAMETERS else (name,)
        )


def _rows() -> Iterator[Row]:
    yield from (Row(text) for text in _texts(dict(WRITE_FAULTS)))
    yield from (Row(text, lasting=True) for text in LASTING)
    yield Row("reply_lost", then=("ignore_key",))
    for look in _texts(dict(LOOKUP_FAULTS)):
        if look == "honest":
            continue
        for write in ("reply_lost", "never_arrives"):
            yield Row(write, look=look)
            yield Row(write, look=look, look_lasting=True)


ROWS: Final = tuple(_rows())
