"""Places in a service's document: JSON pointers (RFC 6901), or a function of the document."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from surestep.errors import ContractError
from surestep.identity import canonical


class _Absent:
    """Stands where a document has nothing, which is not the same as `null`."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()

Place: TypeAlias = str | Callable[[Any], Any]
"""`"/data/0/id"`, `""` for the whole document, or a function that may raise LookupError."""

Marker: TypeAlias = Mapping[str, Any] | Callable[[Any], bool]
"""Pointers with the value each must have (a set: one of them), or a predicate."""


def at(document: Any, place: Place) -> Any:
    """What stands at the place; ABSENT where nothing does."""
    if callable(place):
        try:
            return place(document)
        except (LookupError, TypeError, AttributeError):
            return ABSENT
    here = document
    for token in place.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(here, Mapping) and name in here:
            here = here[name]
        elif isinstance(here, list) and name.isdecimal() and int(name) < len(here):
            here = here[int(name)]
        else:
            return ABSENT
    return here


def holds(document: Any, marker: Marker) -> bool:
    """Whether the marker is there. Values are compared as JSON: 1 is 1.0, and neither is true."""
    if callable(marker):
        try:
            return bool(marker(document))
        except (LookupError, TypeError, AttributeError):
            return False
    # An empty marker is no mark: it would be found on every page.
    return bool(marker) and all(
        _one_of(at(document, place), wanted) for place, wanted in marker.items()
    )


def same(value: Any, other: Any) -> bool:
    """Equality of two JSON values."""
    return canonical(value) == canonical(other)


def text(value: Any) -> str | None:
    """An id or a word: a string or a whole number that is not empty; None for all else."""
    if isinstance(value, str) and value:
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def check(what: str, *places: Place | None) -> None:
    """Refuses what is no pointer: ContractError with the remedy."""
    for place in places:
        if isinstance(place, str) and place and not place.startswith("/"):
            raise ContractError(
                f"{what}: {place!r} is no JSON pointer; write '/{place.replace('.', '/')}', "
                "or '' for the whole document"
            )


def _one_of(value: Any, wanted: Any) -> bool:
    if value is ABSENT:
        return False
    options = wanted if isinstance(wanted, set | frozenset | tuple | list) else (wanted,)
    return any(same(value, option) for option in options)
