"""One HTTP exchange, classified: what came back, or an error that says what is proven."""

import asyncio
import json as jsonlib
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, Final

import httpx

from surestep.errors import Ambiguous, Definite, NotSent, Refused
from surestep.evidence import Sending
from surestep.http import problem
from surestep.http.pointer import ABSENT
from surestep.http.proof import BODY_DECIDES, Track, of_error, of_status
from surestep.telemetry.spans import exchanging

BODY_LIMIT: Final = 1024 * 1024
"""Bytes of an answer that `exchange` reads; the rest is left, and the answer counts as cut off."""

LONGEST_PAUSE: Final = timedelta(days=1)


@dataclass(frozen=True)
class Outgoing:
    """A request as it goes out; `url` is absolute, `headers` are all that the caller gives.

    traceparent  say to which trace it belongs, where there is one
    """

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None = None
    params: Mapping[str, str] | None = None
    traceparent: bool = True


async def exchange(
    method: str,
    url: str,
    *,
    key: str | None = None,
    key_header: str = "Idempotency-Key",
    json: Any = None,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    within: timedelta = timedelta(seconds=25),
) -> httpx.Response:
    """Send once and return the 2xx answer, read in full, all of it `within` one deadline.

    Raises NotSent, Refused or Ambiguous; their words hold no body, header or address. 202 is
    returned as well: it is for the tool to say Accepted. Where one `execute` makes several
    exchanges, put those that follow the effect's own into `after_effect()`.
    """
    sent = dict(headers or {})
    try:
        content = None if json is None else jsonlib.dumps(json, allow_nan=False).encode()
    except (ValueError, TypeError) as error:
        raise NotSent(f"the request cannot be built ({type(error).__name__})") from error
    if content is not None:
        sent["Content-Type"] = "application/json"
    if key is not None:
        sent[key_header] = key
    response = await converse(Outgoing(method, url, sent, content, params), within, Track())
    raise_for(of_status(response.status_code), response, problem.words(response, parsed(response)))
    return response


@contextmanager
def after_effect() -> Iterator[None]:
    """Inside, NotSent and Refused become Ambiguous.

    A definite error speaks of its own request only. Raised after the effect's request has left,
    it would claim that nothing was applied.
    """
    try:
        yield
    except Definite as error:
        raise Ambiguous(f"after the effect was sent: {error}") from error


async def converse(
    outgoing: Outgoing, within: timedelta, track: Track, limit: int = BODY_LIMIT
) -> httpx.Response:
    """The answer of any status, its body read to `limit` bytes. Raises NotSent or Ambiguous.

    The body of a plain refusal may be missing: the status alone proves it.
    """
    with exchanging(outgoing.method, outgoing.url) as exchanged:
        told = exchanged.headers if outgoing.traceparent else {}
        response = await _conversed(outgoing, told, within, track, limit)
        exchanged.status = response.status_code
    return response


async def _conversed(
    outgoing: Outgoing, told: Mapping[str, str], within: timedelta, track: Track, limit: int
) -> httpx.Response:
    response: httpx.Response | None = None
    try:
        client, request = _built(outgoing, told, within, track)
    except Exception as error:  # an address, a header; a proxy or certificate of the environment
        raise NotSent(f"the request cannot be built ({type(error).__name__})") from error
    track.begin()
    async with client:
        try:
            # httpx's own limits are per read, and a body that drips would outlive them.
            async with asyncio.timeout(within.total_seconds()):
                response = await client.send(request, stream=True)
                await _read(response, limit)
        except Exception as error:
            if response is not None and _refuses_by_itself(response.status_code):
                response._content = b""  # an early 413 resets the connection behind its head
                return response
            if of_error(error, track.phase) is Sending.NOT_SENT:
                raise NotSent(f"not connected ({type(error).__name__})") from error
            raise Ambiguous(
                f"no complete answer ({type(error).__name__} while {track.phase})"
            ) from error
    return response


def _built(
    outgoing: Outgoing, told: Mapping[str, str], within: timedelta, track: Track
) -> tuple[httpx.AsyncClient, httpx.Request]:
    client = httpx.AsyncClient(
        timeout=within.total_seconds(),
        # A 307 would repeat the write elsewhere, a 303 turn it into a GET that looks like success.
        follow_redirects=False,
        # GOAWAY says which streams are safe to repeat, and servers say it wrongly.
        http2=False,
        verify=_trusted(),
        # No transport of our own: httpx's has retries off, and an own one would ignore proxies.
    )
    request = client.build_request(
        outgoing.method,
        outgoing.url,
        content=outgoing.content,
        params=outgoing.params,
        headers={
            "Accept": "application/json",
            "Accept-Encoding": "identity",  # what is not encoded cannot be corrupt or explode
            # A kept connection that the server closes makes an unsent request look ambiguous.
            "Connection": "close",
            **told,
            **outgoing.headers,
        },
        extensions={"trace": track.trace},
    )
    return client, request


@cache
def _trusted() -> ssl.SSLContext:
    """Loading the certificates takes longer than an exchange, so it is done once."""
    return httpx.create_ssl_context()


async def _read(response: httpx.Response, limit: int) -> None:
    """Read to the limit; `response.content` and `.json()` work afterwards."""
    parts: list[bytes] = []
    size = 0
    try:
        async for part in response.aiter_bytes():
            parts.append(part)
            size += len(part)
            if size > limit:
                raise httpx.ReadError(f"an answer of more than {limit} bytes")
    finally:
        await response.aclose()
    response._content = b"".join(parts)  # httpx offers no bounded read


def _refuses_by_itself(status: int) -> bool:
    refuses = of_status(status) in (Sending.REFUSED, Sending.REFUSED_FOR_NOW)
    return refuses and status not in BODY_DECIDES


def parsed(response: httpx.Response) -> Any:
    """The JSON value of the body; ABSENT where it is none, NaN and Infinity included."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    try:
        return jsonlib.loads(response.content.decode(), parse_constant=refuse)
    except (ValueError, RecursionError):
        return ABSENT


def raise_for(means: Sending, response: httpx.Response, words: str) -> None:
    """Raises Refused or Ambiguous for an answer that means either; returns for a success."""
    if means is Sending.REFUSED_FOR_NOW:
        raise Refused(words, again=True, retry_after=retry_after(response))
    if means is Sending.REFUSED:
        raise Refused(words)
    if means is Sending.AMBIGUOUS:
        raise Ambiguous(words)


def retry_after(response: httpx.Response) -> timedelta | None:
    """The pause that the service asks for: seconds or a date (RFC 9110); None: it asks for none."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return timedelta(seconds=min(int(value[:9]), LONGEST_PAUSE.total_seconds()))
    try:
        when = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    pause = (when if when.tzinfo else when.replace(tzinfo=UTC)) - datetime.now(UTC)
    return min(max(pause, timedelta(0)), LONGEST_PAUSE)
