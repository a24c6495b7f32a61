"""The codec server: Temporal's Web UI and command line show through it what is encrypted.

It decrypts for those who may read, says who did, and keeps nothing. TLS is a reverse proxy's work.
"""

import asyncio
import json
import logging
import signal
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import uvicorn
from google.protobuf.json_format import MessageToDict, Parse, ParseError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from temporalio.api.common.v1 import Payload, Payloads

from surestep.encryption.codec import EncryptionCodec, is_encrypted, key_id_of
from surestep.encryption.errors import EncryptionError
from surestep.encryption.key_file import KEY_ID
from surestep.encryption.key_ring import KeyRing
from surestep.encryption.readers import Readers

BODY_LIMIT: Final = 16 * 1024 * 1024
"""Bytes. A server sends at most 4 MiB at once, and base64 makes it a third more."""

MOST_AT_ONCE: Final = 64
"""Requests; each may hold a body in memory."""

HEADERS: Final = ("Authorization", "Content-Type", "X-Namespace")
PREFLIGHT_HOLDS: Final = 600  # seconds
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
ANYBODY: Final = "anybody on this host"

audit = logging.getLogger("surestep.codec")

_Work = Callable[[Sequence[Payload]], Awaitable[list[Payload]]]


class Denied(Exception):
    """The request is answered with this status and these words, and nothing is decoded."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass
class _Entry:
    """The audit line of one request. It never holds what was decoded."""

    what: str
    who: str = "unknown"
    namespace: str = ""
    payloads: int = 0
    keys: list[str] = field(default_factory=list)
    outcome: str = "failed"

    def count(self, payloads: Sequence[Payload]) -> None:
        named = {key_id_of(one) for one in payloads if is_encrypted(one)}
        self.payloads = len(payloads)
        self.keys = sorted({name if KEY_ID.fullmatch(name) else "?" for name in named})


class CodecServer:
    """The endpoints, for one ring. Without `readers`, on loopback only, whoever asks may read."""

    def __init__(self, ring: KeyRing, readers: Readers | None, origins: Sequence[str]) -> None:
        self._codec = EncryptionCodec(ring)
        self._readers = readers
        self._origins = tuple(origins)

    def app(self) -> Starlette:
        cors = Middleware(
            CORSMiddleware,
            allow_origins=self._origins,
            allow_methods=["POST"],
            allow_headers=HEADERS,
            max_age=PREFLIGHT_HOLDS,
        )
        routes = [Route("/health", self.health)]
        for name, work in (("encode", self.encode), ("decode", self.decode)):
            # The protocol looks at the end only: a namespace may have a path of its own.
            for path in (f"/{name}", f"/{{mount:path}}/{name}"):
                routes.append(Route(path, work, methods=["POST"]))
        return Starlette(routes=routes, middleware=[cors])

    async def health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def encode(self, request: Request) -> Response:
        return await self._answer(request, _Entry("encode"), self._codec.encode)

    async def decode(self, request: Request) -> Response:
        return await self._answer(request, _Entry("decode"), self._codec.decode)

    async def _answer(self, request: Request, entry: _Entry, work: _Work) -> Response:
        entry.namespace = request.headers.get("x-namespace", "")[:255]
        try:
            entry.who = self._reader(request)
            given = _payloads(await _body(request))
            entry.count(given)
            done = await work(given)
            if entry.what == "encode":
                entry.count(done)
            entry.outcome = "done"
            return JSONResponse(MessageToDict(Payloads(payloads=done)), headers=_UNSTORED)
        except Denied as error:
            entry.outcome = f"refused: {error}"
            return JSONResponse({"message": str(error)}, error.status)
        except EncryptionError as error:
            entry.outcome = type(error).__name__
            why = f"{entry.outcome}: of the key {' or '.join(entry.keys)}"
            return JSONResponse({"message": why}, 422)
        finally:
            audit.info("%s", json.dumps(vars(entry)))

    def _reader(self, request: Request) -> str:
        """Who asks. Raises Denied."""
        origin = request.headers.get("origin")
        if origin is not None and origin.lower() not in self._origins:
            raise Denied(403, "this origin is not one of SURESTEP_CODEC_ORIGINS")
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise Denied(415, "the body must be application/json")
        if self._readers is None:
            # A page whose name was pointed at this host afterwards still says that name.
            if request.url.hostname not in LOOPBACK:
                raise Denied(403, "without SURESTEP_CODEC_READERS only loopback is served")
            return ANYBODY
        who = self._readers.who(request.headers.get("authorization", ""))
        if who is None:
            raise Denied(401, "no reader of SURESTEP_CODEC_READERS has this token")
        return who


_UNSTORED: Final = {"Cache-Control": "no-store"}


async def _body(request: Request) -> bytes:
    """Raises Denied where it is too large: no more than the limit is read."""
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > BODY_LIMIT:
                raise Denied(413, f"the body is over {BODY_LIMIT} bytes")
    except ClientDisconnect:
        raise Denied(400, "the body is not complete") from None
    return bytes(body)


def _payloads(body: bytes) -> Sequence[Payload]:
    try:
        return Parse(body, Payloads(), ignore_unknown_fields=True).payloads
    except (ParseError, ValueError, RecursionError):
        raise Denied(400, 'the body is not Temporal\'s {"payloads": […]}') from None


class _Server(uvicorn.Server):
    """Ends by itself at a signal; uvicorn would raise it once more after it has cleared up."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def end(self) -> None:
        self.should_exit = True


async def serve(app: Starlette, host: str, port: int) -> bool:
    """Serve until SIGTERM or SIGINT. False: the address is not to be had."""
    server = _Server(
        uvicorn.Config(
            app,
            host=host,
            port=port,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MOST_AT_ONCE,
        )
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, server.end)
    try:
        await server.serve()
    except SystemExit:  # uvicorn's word for it, which says why in its log
        return False
    return server.started
