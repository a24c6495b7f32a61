"""Pages: how to get from one page of a list to the next."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, quote, urlencode

from surestep.http import pointer
from surestep.http.pointer import Place, at, text
from surestep.http.request import Rendered
from surestep.http.service import Reply, Service


class LostPage(Exception):
    """There is a next page, and it cannot be asked for."""


@dataclass(frozen=True)
class NextLink:
    """The next page's URL stands in the document; without a place, in the header `Link`."""

    place: Place | None = None

    def __post_init__(self) -> None:
        pointer.check("NextLink", self.place)

    def link(self, reply: Reply) -> str | None:
        if self.place is None:
            return reply.response.links.get("next", {}).get("url")
        return text(at(reply.document, self.place))


@dataclass(frozen=True)
class Cursor:
    """The document names a cursor, which goes into a parameter of the next request."""

    place: Place
    param: str = "cursor"

    def __post_init__(self) -> None:
        pointer.check("Cursor", self.place)


Paging: TypeAlias = NextLink | Cursor | Callable[[Any], Mapping[str, str] | None]
"""A function gets the document and gives the next page's parameters, or None at the end."""


def following(
    paging: Paging | None, service: Service, reply: Reply, request: Rendered
) -> Rendered | None:
    """The request for the next page; None: this was the last. Raises LostPage."""
    if paging is None:
        return None
    if isinstance(paging, NextLink):
        link = paging.link(reply)
        found = service.target(reply, link) if link else None
        if link and not found:
            raise LostPage("the next page is at another service")
        return replace(request, target=found, from_origin=True) if found else None
    if isinstance(paging, Cursor):
        cursor = text(at(reply.document, paging.place))
        params: Mapping[str, str] = {paging.param: cursor} if cursor else {}
    else:
        params = paging(reply.document) or {}
    if not params:
        return None
    path, _, query = request.target.partition("?")
    asked = {**dict(parse_qsl(query)), **params}
    return replace(request, target=f"{path}?{urlencode(asked, quote_via=quote)}")
