"""What the answer to the effect's request is: a receipt, an acceptance, or an error."""

from typing import Final

from surestep.errors import Ambiguous, Refused
from surestep.evidence import Receipt, Sending
from surestep.http.operations import Operations, seconds
from surestep.http.service import Reply, Service
from surestep.http.shape import Shape, Standing
from surestep.tool import Accepted

MULTI_STATUS: Final = 207
"""The batch as a whole was understood; an id in the answer may be the batch's."""


def settled(
    reply: Reply, shape: Shape, service: Service, operations: Operations | None
) -> Receipt | Accepted:
    """The receipt, or Accepted. Raises Refused or Ambiguous; a success must show its mark."""
    reply.raise_for_failure()
    if operations is not None and reply.status in operations.statuses:
        return operations.accepted(service, reply)
    if reply.means is Sending.ACCEPTED:
        return _accepted(reply, shape)
    if not 200 <= reply.status < 300:  # a rule says that this error is our own effect
        return shape.receipt(reply.document)
    if reply.status in shape.empty and reply.empty:
        return Receipt()
    if reply.status == MULTI_STATUS and not (shape.success or shape.states):
        why = "each item has a status of its own: say where, Item(…)"
        raise Ambiguous(f"{reply.words}; {why}")
    lacks = shape.lacks(reply.document)
    standing = shape.standing(reply.document)
    if standing is Standing.FAILED and shape.states:
        word = shape.states.word(reply.document)
        raise Refused(f"the service answered {reply.status} and says {word}")
    if lacks is not None:
        raise Ambiguous(f"the service answered {reply.status} with {lacks}")
    if standing is Standing.PENDING:
        return _accepted(reply, shape)
    if standing is Standing.OTHER:
        word = shape.states.word(reply.document) if shape.states else ""
        said = f"in state {word}" if word else "in no state"
        raise Ambiguous(f"the service answered {reply.status} with an effect {said}")
    return shape.receipt(reply.document)


def _accepted(reply: Reply, shape: Shape) -> Accepted:
    return Accepted(receipt=shape.receipt(reply.document), look_after=seconds(reply.retry_after))
