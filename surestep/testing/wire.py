"""HTTP/1.1 on one socket, with the means to break it: requests in, answers or worse out."""

import asyncio
import json
import socket
import struct
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

import h11
from pydantic import JsonValue

CHUNK: Final = 65_536
LINGER_ZERO: Final = struct.pack("ii", 1, 0)
"""SO_LINGER that makes a close send RST instead of FIN."""


@dataclass(frozen=True)
class Request:
    """One request as received; `target` is path and query as sent, header names are lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def segments(self) -> list[str]:
        """The path's segments, decoded: `/keyed/effects/1` → `["keyed", "effects", "1"]`."""
        return [unquote(part) for part in urlsplit(self.target).path.split("/")[1:]]

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))


@dataclass(frozen=True)
class Answer:
    """One whole HTTP answer; Content-Length is added on sending."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()

    @classmethod
    def json(cls, status: int, value: JsonValue, *headers: tuple[str, str]) -> "Answer":
        body = json.dumps(value).encode()
        return cls(status, body, (("Content-Type", "application/json"), *headers))

    @classmethod
    def problem(cls, status: int, code: str, detail: str, *headers: tuple[str, str]) -> "Answer":
        """An RFC 9457 problem with the extension member `code`, which programs may rely on."""
        body = json.dumps({"status": status, "code": code, "detail": detail}).encode()
        return cls(status, body, (("Content-Type", "application/problem+json"), *headers))

    @classmethod
    def text(cls, status: int, text: str, kind: str = "text/plain") -> "Answer":
        return cls(status, text.encode(), (("Content-Type", f"{kind}; charset=utf-8"),))

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known == name), None)

    def with_header(self, name: str, value: str) -> "Answer":
        return replace(self, headers=(*self.headers, (name, value)))


class Connection:
    """One accepted socket, kept alive between requests; ConnectionError when the peer is gone."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.SERVER)
        self.idle = True
        self.last_answer = False
        """Set to tell the peer, with the next answer, that the connection ends."""

    async def receive(self) -> Request | None:
        """The next whole request; None when no further one can come on this socket.

        Raises h11.RemoteProtocolError for bytes that are not HTTP/1.1.
        """
        if self._http.our_state is h11.DONE:
            self._http.start_next_cycle()
        if self._writer.is_closing() or self._http.our_state is not h11.IDLE:
            return None
        self.idle = True
        head: h11.Request | None = None
        body = bytearray()
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                await self._read_more()
            elif isinstance(event, h11.Request):
                self.idle = False
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                headers = {name.decode(): value.decode("latin-1") for name, value in head.headers}
                return Request(head.method.decode(), head.target.decode(), headers, bytes(body))
            else:
                return None

    async def _read_more(self) -> None:
        if self._http.they_are_waiting_for_100_continue:
            await self._write(
                self._http.send(h11.InformationalResponse(status_code=100, headers=[]))
            )
        self._http.receive_data(await self._reader.read(CHUNK))

    async def send(self, answer: Answer, *, over: float = 0) -> None:
        """Sends a whole answer; its body byte by byte where it is to last `over` seconds."""
        await self.send_head(answer)
        parts = [answer.body[at : at + 1] for at in range(len(answer.body))] if over else []
        begun = time.monotonic()
        for number, part in enumerate(parts, start=1):
            await self.send_body(part)
            await asyncio.sleep(begun + over * number / len(parts) - time.monotonic())
        if not parts:
            await self.send_body(answer.body)
        await self._write(self._http.send(h11.EndOfMessage()))

    async def send_head(self, answer: Answer) -> None:
        """Status and headers, with the length of the whole body whether or not it will follow."""
        ending = [("Connection", "close")] if self.last_answer else []
        headers = [*answer.headers, ("Content-Length", str(len(answer.body))), *ending]
        response = h11.Response(status_code=answer.status, headers=headers)
        await self._write(self._http.send(response))

    async def send_body(self, part: bytes) -> None:
        await self._write(self._http.send(h11.Data(data=part)))

    async def send_raw(self, octets: bytes) -> None:
        """Octets that need not be HTTP; only `close` or `reset` may follow."""
        await self._write(octets)

    async def gone(self) -> None:
        """Returns when the peer has left; whatever it still sends is dropped."""
        while await self._reader.read(CHUNK):
            pass

    def close(self) -> None:
        """Ends the connection the polite way (FIN); safe to repeat."""
        self._writer.close()

    async def closed(self) -> None:
        """Returns when a connection that was closed or reset is gone on this side."""
        with suppress(ConnectionError):
            await self._writer.wait_closed()

    def reset(self) -> None:
        """Ends the connection with an RST."""
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_ZERO)
        self._writer.transport.abort()

    async def _write(self, octets: bytes | None) -> None:
        if octets:
            self._writer.write(octets)
            await self._writer.drain()
