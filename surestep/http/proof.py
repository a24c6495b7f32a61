"""What each end of an exchange proves: one table, as data.

    phase        an error of this exchange               a status of the service
    building     not sent                                -
    queued       not sent if listed as NEVER_LEFT        -
    connecting   not sent                                -
    sending      not sent if listed as NEVER_LEFT        `STATUSES`; unlisted: ambiguous

Whatever is not listed is ambiguous (R5). A test walks the exception classes of httpx and httpcore
and fails on one that `ERRORS` does not name.
"""

import asyncio
import ssl
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

import h11
import httpcore
import httpx

from surestep.evidence import Sending


class Phase(StrEnum):
    """How far an exchange has come."""

    BUILDING = "building"  # nothing was handed to httpx
    QUEUED = "queued"  # handed over, and not a word from httpcore yet
    CONNECTING = "connecting"  # DNS, TCP, a proxy's tunnel, TLS
    SENDING = "sending"  # the first byte of the request may have left


Row = Mapping[Phase, Sending]

BY_PHASE: Final[Row] = MappingProxyType(
    {
        Phase.BUILDING: Sending.NOT_SENT,
        # Should httpcore stop telling its events, silence must not look like "not sent".
        Phase.QUEUED: Sending.AMBIGUOUS,
        Phase.CONNECTING: Sending.NOT_SENT,
        Phase.SENDING: Sending.AMBIGUOUS,
    }
)
NEVER_LEFT: Final[Row] = MappingProxyType(dict.fromkeys(Phase, Sending.NOT_SENT))
"""Errors that are raised before the first byte, whatever the phase says."""

_NEVER_LEFT: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.InvalidURL,
    httpx.LocalProtocolError,  # a header that HTTP forbids; raised before the headers are written
    httpx.PoolTimeout,
    httpx.ProxyError,  # the proxy refused the tunnel: the request itself stayed here
    httpx.UnsupportedProtocol,
    httpcore.ConnectError,
    httpcore.ConnectionNotAvailable,
    httpcore.ConnectTimeout,
    httpcore.LocalProtocolError,
    httpcore.PoolTimeout,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)
_BY_PHASE: Final = (
    httpx.CloseError,
    httpx.CookieConflict,
    httpx.DecodingError,
    httpx.HTTPError,
    httpx.HTTPStatusError,
    httpx.NetworkError,
    httpx.ProtocolError,
    httpx.ReadError,
    httpx.ReadTimeout,
    httpx.RemoteProtocolError,
    httpx.RequestError,
    httpx.RequestNotRead,
    httpx.ResponseNotRead,
    httpx.StreamClosed,
    httpx.StreamConsumed,
    httpx.StreamError,
    httpx.TimeoutException,
    httpx.TooManyRedirects,
    httpx.TransportError,
    httpx.WriteError,
    httpx.WriteTimeout,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ReadError,
    httpcore.ReadTimeout,
    httpcore.RemoteProtocolError,
    httpcore.TimeoutException,
    httpcore.WriteError,
    httpcore.WriteTimeout,
    h11.LocalProtocolError,  # httpcore lets it through once the headers are on their way
    h11.RemoteProtocolError,
    OSError,
    ssl.SSLError,
    TimeoutError,  # our own deadline; httpx does not know it
    asyncio.CancelledError,
)
ERRORS: Final[Mapping[type[BaseException], Row]] = MappingProxyType(
    {**dict.fromkeys(_NEVER_LEFT, NEVER_LEFT), **dict.fromkeys(_BY_PHASE, BY_PHASE)}
)

REFUSED_FOR_NOW: Final = frozenset({401, 429})
REFUSED: Final = frozenset({400, 403, 404, 405, 410, 411, 413, 414, 415, 422, 431})
STATUSES: Final[Mapping[int, Sending]] = MappingProxyType(
    {
        **dict.fromkeys(range(200, 300), Sending.ANSWERED),
        202: Sending.ACCEPTED,
        **dict.fromkeys(REFUSED_FOR_NOW, Sending.REFUSED_FOR_NOW),
        **dict.fromkeys(REFUSED, Sending.REFUSED),
    }
)
BODY_DECIDES: Final = frozenset({400, 409, 422})
"""Statuses that a code in the body can turn around: without the body they prove nothing."""


def of_error(error: BaseException, phase: Phase) -> Sending:
    """What an error proves; exact classes only, so that a new subclass is ambiguous."""
    return ERRORS.get(type(error), BY_PHASE)[phase]


def of_status(status: int) -> Sending:
    """What a status proves where neither service nor body say more."""
    return STATUSES.get(status, Sending.AMBIGUOUS)


class Track:
    """Follows one exchange by httpcore's own account; pass `trace` as its extension."""

    def __init__(self) -> None:
        self.phase = Phase.BUILDING
        self.left_before = False
        """An earlier request of the same attempt left, and was provably refused."""

    def begin(self) -> None:
        """A request is handed over."""
        self.left_before = self.left_before or self.phase is Phase.SENDING
        self.phase = Phase.QUEUED

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        layer, _, name = event.partition(".")
        if self.phase is Phase.SENDING or not name.endswith(".started"):
            return
        if name.startswith("response_closed"):  # tells of no request; also ends a failed tunnel
            return
        request = info.get("request")
        tunnel = request is not None and request.method == b"CONNECT"
        connecting = tunnel or layer in ("connection", "proxy", "socks")
        self.phase = Phase.CONNECTING if connecting else Phase.SENDING

    @property
    def unsent(self) -> bool:
        """Whether it is certain that no byte of the present request has left."""
        return self.phase in (Phase.BUILDING, Phase.CONNECTING)
