"""Lookups: finding our effect by our key, and nothing else's by its looks."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from surestep.errors import SurestepError
from surestep.evidence import Verification, confirmed, not_found, pending, rejected, unknown
from surestep.http import pointer
from surestep.http.paging import LostPage, Paging, following
from surestep.http.pointer import ABSENT, Place, at
from surestep.http.request import Rendered, Request
from surestep.http.service import Reply, Service
from surestep.http.shape import Shape, Standing
from surestep.http.template import KEY, Values, names

Ask = Callable[[Rendered], Awaitable[Reply]]


@dataclass(frozen=True)
class Lookup:
    """How to find what stands under our key. GET, unless `method` says otherwise.

    path, params   as of a Request; ask for our key here (`{call.key}`) where the service can filter
    items          where the list stands; None: the document is the one effect
    key            where our key stands in an item. Nothing else makes an item ours
    same           argument → its place in an item; what is not the same makes the effect `differ`
    shape          how to read an item; default: the tool's
    absent         statuses with a JSON body that say "there is none". By default 404 for a single
                   effect and nothing for a list: a 404 on a list is a wrong address
    next, pages    how to get to the next page, and how many to read. Beyond, a miss is `unknown`
    """

    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    items: Place | None = None
    key: Place = "/key"
    same: Mapping[str, Place] = field(default_factory=dict)
    shape: Shape | None = None
    absent: frozenset[int] | None = None
    next: Paging | None = None
    pages: int = 20
    method: str = "GET"
    body: Any = None

    def __post_init__(self) -> None:
        pointer.check("Lookup", self.items, self.key, *self.same.values())

    def request(self) -> Request:
        return Request(self.method, self.path, self.params, self.body)

    def check(self, what: str, fields: Iterable[str]) -> None:
        self.request().check(what, fields)

    async def look(self, ask: Ask, service: Service, shape: Shape, values: Values) -> Verification:
        """What is there under our key. Raises what an exchange of the first page raises."""
        read, ours, foreign = 0, list[Any](), 0
        end = not_found()
        try:
            async for items in self._pages(ask, service, values):
                read += 1
                for item in items:
                    if at(item, self.key) == values.key:
                        ours.append(item)
                    elif at(item, self.key) in (ABSENT, None):
                        foreign += 1
        except LostPage as error:
            end = unknown(str(error))
        except SurestepError as error:
            if not read:
                raise
            end = unknown(f"page {read + 1} could not be read: {error}")
        if ours:  # one hit is enough, whatever the rest of the pages would show (R7)
            return self._found(ours, self.shape or shape, values)
        if foreign and self._filters:
            return unknown(f"asked for our key, the service lists what has nothing at {self.key}")
        return end

    @property
    def _filters(self) -> bool:
        return KEY in {*names(self.path), *names(self.params), *names(self.body)}

    async def _pages(self, ask: Ask, service: Service, values: Values) -> AsyncIterator[list[Any]]:
        request = self.request().render(values)
        seen = set[str]()
        for _ in range(self.pages):
            seen.add(request.target)
            reply = await ask(request)
            yield self._items(reply)
            following_page = following(self.next, service, reply, request)
            if following_page is None:
                return
            if following_page.target in seen:
                raise LostPage("the pages go round in a circle")
            request = following_page
        raise LostPage(f"not on the first {self.pages} pages, and there are more")

    def _items(self, reply: Reply) -> list[Any]:
        absent = self.absent
        if absent is None:
            absent = frozenset({404}) if self.items is None else frozenset()
        if reply.status in absent and reply.document is not ABSENT:
            return []
        reply.raise_for_failure()
        if self.items is None:
            if isinstance(reply.document, Mapping) and at(reply.document, self.key) is not ABSENT:
                return [reply.document]
            raise LostPage("the answer is not an effect with a key")
        items = at(reply.document, self.items)
        if not isinstance(items, list):
            raise LostPage("the answer has no list where the list should be")
        return items

    def _found(self, ours: list[Any], shape: Shape, values: Values) -> Verification:
        by_standing: dict[Standing, list[Any]] = {}
        for item in ours:
            by_standing.setdefault(shape.standing(item), []).append(item)
        done = by_standing.get(Standing.SUCCEEDED)
        if done:
            differs = sorted({name for item in done for name in self._differing(item, values)})
            return confirmed(matches=[shape.receipt(item) for item in done], differs=differs)
        if waiting := by_standing.get(Standing.PENDING):
            return pending("the service works on it", shape.receipt(waiting[0]))
        if other := by_standing.get(Standing.OTHER):
            word = shape.states.word(other[0]) if shape.states else ""
            state = f"an effect in state {word}" if word else "an effect in no state"
            # It forbids a repeat, and a person has to see it (R8).
            return unknown(f"found {state}", holds=[state], missing=["a final state"])
        failed = ours[0]
        word = shape.states.word(failed) if shape.states else "failed"
        return rejected(f"the service says {word}", shape.receipt(failed))

    def _differing(self, item: Any, values: Values) -> Iterable[str]:
        for name, place in self.same.items():
            shown = at(item, place)
            if shown is ABSENT or not pointer.same(values.get(name), shown):
                yield name
