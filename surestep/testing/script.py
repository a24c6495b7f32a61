"""The script: which request meets which fault."""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Generic

from surestep.testing.faults import (
    Chosen,
    F,
    LookupFault,
    WriteFault,
    lookup_fault,
    write_fault,
)


def matches(pattern: str, key: str) -> bool:
    """Whether `key` is meant by `pattern`: itself, or a prefix that ends in `*`."""
    return pattern == key or (pattern.endswith("*") and key.startswith(pattern[:-1]))


class Queues(Generic[F]):
    """Faults waiting for requests of one kind, one queue per key pattern."""

    def __init__(self, parse: Callable[[str], Chosen[F]]) -> None:
        self._parse = parse
        self._waiting: dict[str, deque[Chosen[F]]] = {}

    def put(self, pattern: str, faults: Iterable[Chosen[F]]) -> None:
        self._waiting[pattern] = deque(faults)

    def next(self, key: str | None, header: str | None) -> Chosen[F] | None:
        """The fault of this request, taken out of its queue unless the request named its own.

        Raises BadFault for a header that names no fault.
        """
        if header is not None:
            return self._parse(header)
        if key is None:
            return None
        meant = [pattern for pattern, faults in self._waiting.items() if faults]
        # The most exact pattern comes first, so that one action of many can be singled out.
        for pattern in sorted(meant, key=lambda each: (each != key, -len(each))):
            if matches(pattern, key):
                return self._waiting[pattern].popleft()
        return None


class Script:
    """The faults to come, for writes and for lookups."""

    def __init__(self) -> None:
        self.writes: Queues[WriteFault] = Queues(write_fault)
        self.lookups: Queues[LookupFault] = Queues(lookup_fault)

    def put(
        self, pattern: str, *, write: Iterable[str] | None, lookup: Iterable[str] | None
    ) -> None:
        """Replaces the waiting faults of `pattern`; None leaves that kind as it is.

        Raises BadFault before anything is changed.
        """
        writes = None if write is None else [write_fault(text) for text in write]
        lookups = None if lookup is None else [lookup_fault(text) for text in lookup]
        if writes is not None:
            self.writes.put(pattern, writes)
        if lookups is not None:
            self.lookups.put(pattern, lookups)
