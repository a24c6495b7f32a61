"""A batch of one: our own part of an answer that tells of several."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from surestep.errors import Ambiguous
from surestep.evidence import Sending
from surestep.http import pointer
from surestep.http.pointer import Place, at, text
from surestep.http.rules import Rule
from surestep.http.service import Reply, Service

MANY: Final = frozenset({200, 207})
"""Statuses of answers that may hold a status for each item (207: RFC 4918, 13)."""


@dataclass(frozen=True)
class Item:
    """Where our result stands, for a service that has a call for batches only.

    Each action sends a batch of one, so that each ends by itself: what went well is never sent
    again for the sake of what did not. The item's own status is read as any answer's is.

    results   where the list of results stands
    key       where our key stands in a result; None: the list's only result is ours
    status    where a result's own status stands, a number such as 201; a function may make one
    document  what of a result is read for receipt, state and codes; "" is all of it
    answers   statuses of the answer as a whole that hold results; any other speaks for itself
    """

    results: Place
    key: Place | None = None
    status: Place = "/status"
    document: Place = ""
    answers: frozenset[int] = MANY

    def __post_init__(self) -> None:
        pointer.check("Item", self.results, self.key, self.status, self.document)

    def own(self, reply: Reply, service: Service, rules: Iterable[Rule], key: str) -> Reply:
        """The answer to our item. Raises Ambiguous where nothing, or too much, is said of it."""
        if reply.status not in self.answers or reply.means is not Sending.ANSWERED:
            return reply
        result = self._ours(reply, key)
        status = text(at(result, self.status)) or ""
        if not (status.isascii() and status.isdigit() and len(status) == 3):
            raise Ambiguous(f"{reply.words}, and no status for our item")
        return service.of_item(reply, int(status), at(result, self.document), rules)

    def _ours(self, reply: Reply, key: str) -> Any:
        results = at(reply.document, self.results)
        if not isinstance(results, list):
            raise Ambiguous(f"{reply.words}, without the results of its items")
        place = self.key
        ours = results if place is None else [one for one in results if at(one, place) == key]
        if len(ours) != 1:
            raise Ambiguous(f"{reply.words}, with {len(ours) or 'no'} results for our item")
        return ours[0]
