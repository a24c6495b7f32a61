"""Accepted requests: the operation that a service promises to carry out, and how it ended."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from surestep.evidence import Receipt, Verification, confirmed, pending, rejected, unknown
from surestep.http import pointer, template
from surestep.http.pointer import Place, at, text
from surestep.http.request import Rendered, Request
from surestep.http.service import Reply, Service
from surestep.http.shape import Standing, States
from surestep.http.template import Values
from surestep.tool import Accepted

GONE: Final = frozenset({404, 410})
"""A service may forget operations that ended long ago."""

ID_LIMIT: Final = 500  # characters; a longer one is not recorded, and the lookup has to do


@dataclass(frozen=True)
class Operations:
    """How to follow a request that was accepted (202) until it has ended.

    poll      path of the operation, "/operations/{call.receipt.id}"; None: what the answer's
              `Location` says, if it leads to the same service. It is recorded: where a service
              signs such links, give a path instead
    id        the operation's id in the answer, for `poll`
    states    the operation's words; None: 202 is pending, another success is done
    effect    where the id of the effect stands once it is done
    statuses  answers that begin an operation
    """

    poll: str | None = None
    id: Place = "/id"
    states: States | None = field(default_factory=States)
    effect: Place | None = None
    statuses: frozenset[int] = frozenset({202})

    def __post_init__(self) -> None:
        pointer.check("Operations", self.id, self.effect)

    def check(self, what: str, fields: Iterable[str]) -> None:
        if self.poll is not None:
            Request("GET", self.poll).check(what, fields, receipt=True)

    def accepted(self, service: Service, reply: Reply) -> Accepted:
        """The operation as a receipt: its id, or its path where `Location` tells it."""
        if self.poll is None:
            link = reply.response.headers.get("Location")
            name = service.target(reply, link) if link else None
        else:
            name = text(at(reply.document, self.id))
        word = self.states.word(reply.document) if self.states else ""
        return Accepted(
            receipt=Receipt(
                id=name if name and len(name) <= ID_LIMIT else None, status=word or "accepted"
            ),
            look_after=seconds(reply.retry_after),
        )

    def request(self, values: Values) -> Rendered | None:
        """The next poll; None: there is nothing that could be polled."""
        receipt = values.call.receipt
        if receipt is None or receipt.id is None:
            return None
        if self.poll is None:
            # A lookup may have put an effect's id here, which is no path.
            if not receipt.id.startswith("/"):
                return None
            return Rendered("GET", receipt.id, {}, None, from_origin=True)
        try:
            return Rendered("GET", template.path(self.poll, values), {}, None)
        except template.Unfillable:
            return None

    def ended(self, reply: Reply, receipt: Receipt | None) -> Verification | None:
        """What a poll says; None: the service no longer knows the operation."""
        if reply.status in GONE:
            return None
        if self.states is None and reply.status == 303:
            return confirmed(receipt)  # "see other" is how an operation without states is done
        reply.raise_for_failure()
        if self.states is None:
            done = reply.status != 202
            standing, word = (Standing.SUCCEEDED if done else Standing.PENDING), ""
        else:
            standing, word = self.states.standing(reply.document), self.states.word(reply.document)
        match standing:
            case Standing.SUCCEEDED:
                effect = None if self.effect is None else text(at(reply.document, self.effect))
                return confirmed(Receipt(id=effect, status=word or None))
            case Standing.PENDING:
                return pending("the service works on it", receipt)
            case Standing.FAILED:
                return rejected(f"the operation ended {word}", receipt)
            case Standing.OTHER:
                said = f"in a state unknown to the tool: {word}" if word else "in no state at all"
                return unknown(f"the operation is {said}")


def seconds(pause: timedelta | None) -> float | None:
    return None if pause is None else pause.total_seconds()
