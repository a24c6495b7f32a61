"""Compensation: undoing what was confirmed, and looking whether it is undone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from surestep.evidence import Receipt, Verification, confirmed, not_found, unknown
from surestep.http import pointer
from surestep.http.pointer import ABSENT, Marker, Place, at, holds, text
from surestep.http.request import Request
from surestep.http.service import Reply
from surestep.http.shape import Shape


@dataclass(frozen=True)
class UndoLookup:
    """How to see that an effect is undone.

    path    of the effect, with `{call.receipt.id}`
    undone  what it shows then; None: it is gone instead
    id      where its id stands: an answer about something else says nothing
    gone    statuses with a JSON body that mean "no longer there". Empty by default: with
            credentials that cannot see, 404 would pass for undone. Give the tool a Sight with it
    """

    path: str
    undone: Marker | None = None
    id: Place = "/id"
    gone: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        pointer.check("UndoLookup(id=…)", self.id)
        if isinstance(self.undone, Mapping):
            pointer.check("UndoLookup(undone=…)", *self.undone)

    def request(self) -> Request:
        return Request("GET", self.path)

    def is_gone(self, reply: Reply) -> bool:
        return reply.status in self.gone and reply.document is not ABSENT

    def answer(self, reply: Reply, effect: Receipt) -> Verification:
        """Raises Refused or Ambiguous for an answer that is no success."""
        reply.raise_for_failure()
        if effect.id is None or text(at(reply.document, self.id)) != effect.id:
            return unknown("the answer is not about the effect that is to be undone")
        undone = self.undone is not None and holds(reply.document, self.undone)
        return confirmed(effect) if undone else not_found()


@dataclass(frozen=True)
class Undo:
    """The request that undoes a confirmed effect; its key is that of the action `…/undo`.

    request  with `{call.receipt.id}`, such as DELETE "/refunds/{call.receipt.id}"
    shape    what a success shows; by default 204, or JSON with the effect's id
    lookup   how to see that it is undone; without it an ambiguous undo goes to a human
    """

    request: Request
    shape: Shape = field(default_factory=lambda: Shape(empty=frozenset({204})))
    lookup: UndoLookup | None = None

    def check(self, what: str, fields: Iterable[str]) -> None:
        self.request.check(what, fields, receipt=True)
        if self.lookup is not None:
            self.lookup.request().check(what, fields, receipt=True)
