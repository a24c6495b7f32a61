"""Fencing and sight: making the receiver refuse our key, and proving that a lookup can see."""

from collections.abc import Mapping
from dataclasses import dataclass

from surestep.http import pointer
from surestep.http.pointer import ABSENT, Marker, Place, at, holds
from surestep.http.request import Request
from surestep.http.service import Reply
from surestep.http.shape import Shape
from surestep.tool import Fence


@dataclass(frozen=True)
class FenceRequest:
    """A request after which the service refuses our key: a tombstone, a void or cancel by key.

    request  with `{call.key}` in it; not sent twice, so it must be harmless to repeat
    held     what the answer shows if the key is closed and nothing stands under it
    exists   where the effect stands in the answer if it was there already
    """

    request: Request
    held: Marker
    exists: Place | None = None

    def __post_init__(self) -> None:
        pointer.check("FenceRequest(exists=…)", self.exists)
        if isinstance(self.held, Mapping):
            pointer.check("FenceRequest(held=…)", *self.held)

    def answer(self, reply: Reply, shape: Shape) -> Fence:
        """Held only where the answer says so in so many words. Raises Refused or Ambiguous."""
        reply.raise_for_failure()
        found = ABSENT if self.exists is None else at(reply.document, self.exists)
        if found is not ABSENT and found is not None:
            return Fence(held=False, exists=shape.receipt(found))
        return Fence(held=holds(reply.document, self.held))


@dataclass(frozen=True)
class Sight:
    """An object that is known to exist: a lookup that misses counts only where this is seen.

    path   of the object, with the same credentials and, if possible, the same kind of lookup
    sees   what the answer shows; default: any JSON
    """

    path: str
    params: Mapping[str, str] | None = None
    sees: Marker | None = None

    def request(self) -> Request:
        return Request("GET", self.path, self.params or {})

    def answer(self, reply: Reply) -> bool:
        if not 200 <= reply.status < 300 or reply.document is ABSENT:
            return False
        return self.sees is None or holds(reply.document, self.sees)
