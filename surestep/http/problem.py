"""What a service says beside its status: codes, and of a problem (RFC 9457) title and type.

Nothing else of an answer gets into an error's words, because bodies repeat what was sent.
"""

import re
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any, Final

import httpx

from surestep.http.pointer import ABSENT, Place, at, text

CODES: Final[tuple[Place, ...]] = (
    "/code",
    "/error/code",
    "/error/type",
    "/error",
    "/errors/0/code",
)
"""Where services put a code that programs may rely on."""

TEXT_LIMIT: Final = 120
_OURS: Final = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host"}
    | {"traceparent", "user-agent"}
)
_CODE: Final = re.compile(r"[\w.:-]{1,64}")
_TELLING: Final = re.compile(r"[\w+/=.-]{6,}")


def codes(document: Any, places: Iterable[Place] = CODES) -> frozenset[str]:
    """Every code in the document, a problem's type and title in the form of a code among them."""
    found = [text(at(document, place)) for place in places]
    kind = text(at(document, "/type"))
    if kind:
        found += [kind, re.split(r"[/#:]", kind.rstrip("/"))[-1]]
    title = text(at(document, "/title"))
    if title:
        found.append(re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_"))
    return frozenset(code for code in found if code)


def words(response: httpx.Response, document: Any, places: Iterable[Place] = CODES) -> str:
    """`the service answered 409 Conflict (in_progress): A request is outstanding`, bounded."""
    said = f"the service answered {_named(response, response.status_code, document, places)}"
    if "problem+json" in response.headers.get("Content-Type", ""):
        for part in (at(document, "/title"), at(document, "/type")):
            shown = _shown(part)
            if shown and shown != "about:blank" and not _repeats(shown, response.request):
                said += f"; {shown}"
    return said


def item_words(
    response: httpx.Response, status: int, document: Any, places: Iterable[Place]
) -> str:
    """`and for our item 429 Too Many Requests (rate_limited)`, bounded."""
    return f"and for our item {_named(response, status, document, places)}"


def _named(response: httpx.Response, status: int, document: Any, places: Iterable[Place]) -> str:
    said = f"{status} {_phrase(status)}".strip()
    code = next((one for place in places if (one := _code(at(document, place)))), None)
    return f"{said} ({code})" if code and not _repeats(code, response.request) else said


def _code(value: Any) -> str | None:
    return value if isinstance(value, str) and _CODE.fullmatch(value) else None


def _shown(value: Any) -> str:
    if value is ABSENT or not isinstance(value, str):
        return ""
    return "".join(char for char in value.split("?")[0] if char.isprintable())[:TEXT_LIMIT]


def _repeats(shown: str, request: httpx.Request) -> bool:
    """Whether a text repeats something telling of what was sent: a number, a token, an address."""
    sent = "\n".join(
        [str(request.url), *request.headers.values(), request.content.decode(errors="replace")]
    )
    if any(word in shown for word in _given(request)):
        return True
    return any(
        part in sent
        for part in _TELLING.findall(shown)
        if any(char.isdigit() for char in part) or "@" in shown
    )


def _given(request: httpx.Request) -> Iterator[str]:
    """The words of headers that are the caller's: credentials, whatever they are made of."""
    for name, value in request.headers.items():
        if name not in _OURS:
            yield from (word for word in value.split() if len(word) >= 8)


def _phrase(status: int) -> str:
    """Our own words: a service's reason phrase is text of its choice."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
