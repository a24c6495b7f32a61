"""One HTTP exchange, classified: what came back, or an error that says what is proven.

    phase or answer                                        class
    nothing connected: refused, DNS, TLS, proxy, pool      NotSent
    the request itself cannot be built                     NotSent
    2xx                                                    the response; 202 too: the tool decides
    401, 429                                               Refused, may be tried again
    400, 403, 404, 405, 410, 411, 413, 414, 415, 422, 431  Refused
    any other status, any other error                      Ambiguous

An error not listed is ambiguous (R5). Redirects and retries are off: a 307 would repeat a write,
a 303 would turn it into a GET that looks like a success, and only Surestep retries. Connections
are not kept: a server that closes an idle one would make an unsent request look ambiguous.
"""

import asyncio
import json as jsonlib
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, Final

import httpx

from surestep.errors import Ambiguous, NotSent, Refused

NOT_SENT: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
    httpx.InvalidURL,
)
REFUSED_FOR_NOW: Final = frozenset({401, 429})
REFUSED: Final = frozenset({400, 403, 404, 405, 410, 411, 413, 414, 415, 422, 431})

BODY_LIMIT: Final = 1024 * 1024
"""Bytes of an answer that are read; the rest is left, and the answer counts as cut off."""


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

    Raises NotSent, Refused or Ambiguous; their words hold no body, header or address.
    """
    phase = _Phase()
    try:
        content = None if json is None else jsonlib.dumps(json, allow_nan=False).encode()
        sent = {"Accept": "application/json", "Connection": "close", **(headers or {})}
        if content is not None:
            sent["Content-Type"] = "application/json"
        if key is not None:
            sent[key_header] = key
        client = httpx.AsyncClient(
            timeout=within.total_seconds(), follow_redirects=False, verify=_trusted()
        )
        request = client.build_request(
            method,
            url,
            content=content,
            params=params,
            headers=sent,
            extensions={"trace": phase.trace},
        )
    except (ValueError, TypeError, UnicodeError, httpx.InvalidURL) as error:
        raise NotSent(f"the request cannot be built ({type(error).__name__})") from error
    async with client:
        try:
            # httpx's own limits are per read, and a body that drips would outlive them.
            async with asyncio.timeout(within.total_seconds()):
                response = await client.send(request, stream=True)
                await _read(response)
        except NOT_SENT as error:
            raise NotSent(f"not connected ({type(error).__name__})") from error
        except (httpx.HTTPError, httpx.StreamError, TimeoutError) as error:
            if not phase.sending:
                raise NotSent(f"not connected ({type(error).__name__})") from error
            raise Ambiguous(f"no complete answer ({type(error).__name__})") from error
    return _judged(response)


class _Phase:
    """Whether the first byte of a request may have left, by httpcore's own account."""

    def __init__(self) -> None:
        self.sending = False

    async def trace(self, event: str, _: Any) -> None:
        self.sending = self.sending or event.endswith("send_request_headers.started")


@cache
def _trusted() -> ssl.SSLContext:
    """Loading the certificates takes longer than an exchange, so it is done once."""
    return httpx.create_ssl_context()


async def _read(response: httpx.Response) -> None:
    """Read to the limit; `response.content` and `.json()` work afterwards."""
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        parts.append(part)
        size += len(part)
        if size > BODY_LIMIT:
            raise httpx.ReadError(f"an answer of more than {BODY_LIMIT} bytes")
    response._content = b"".join(parts)  # httpx offers no bounded read


def _judged(response: httpx.Response) -> httpx.Response:
    status = response.status_code
    if 200 <= status < 300:
        return response
    words = f"the service answered {status} {response.reason_phrase}".strip()
    if status in REFUSED_FOR_NOW:
        raise Refused(words, again=True, retry_after=retry_after(response))
    if status in REFUSED:
        raise Refused(words)
    raise Ambiguous(words)


def retry_after(response: httpx.Response) -> timedelta | None:
    """The pause that the service asks for: seconds or a date (RFC 9110); None: it asks for none."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isdigit():
        return timedelta(seconds=min(int(value), 86_400))
    try:
        pause = parsedate_to_datetime(value) - datetime.now(UTC)
    except (TypeError, ValueError):
        return None
    return min(max(pause, timedelta(0)), timedelta(days=1))
