"""One message over SMTP, classified by how far it came.

    phase                               failure                        class
    connect, EHLO, STARTTLS, AUTH       any, and being stopped         NotSent
    MAIL, RCPT, DATA                    5xx                            Refused
                                        4xx, any other reply           Refused, may be tried again
    MAIL, RCPT, DATA, content           connection lost, no time left,
                                        the attempt is stopped         Refused, may be tried again
                                        anything else                  Refused
    after the final dot                 2xx                            taken
                                        5xx                            Refused
                                        4xx                            Refused, may be tried again
                                        anything else                  Ambiguous

A server must not deliver a message whose final dot it has not seen, and a 4xx or 5xx to the dot
says that it took no responsibility (RFC 5321, 4.1.1.4 and 4.2.5). The dot is a write of its own,
after the content has left: else a connection that breaks in the content would look ambiguous.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Final

import aiosmtplib

from surestep.errors import Ambiguous, Definite, NotSent, Refused
from surestep.mail.message import Sealed
from surestep.mail.server import MailServer, Tls
from surestep.tool import Call

# One reply before the dot; the dot itself may take all that is left of the attempt.
REPLY_SECONDS: Final = 30.0
GOODBYE_SECONDS: Final = 1.0

_LOST: Final = (aiosmtplib.SMTPException, OSError, TimeoutError)
_ENHANCED: Final = re.compile(r"[245]\.\d{1,3}\.\d{1,3}(?=\s|$)")  # RFC 3463
_LINE_START_DOT: Final = re.compile(rb"(?m)^\.")


async def deliver(server: MailServer, mail: Sealed, call: Call) -> str:
    """Hand the message over and return the server's reply. Raises NotSent, Refused, Ambiguous."""
    async with _connected(server, _seconds_left(call)) as client:
        try:
            async with asyncio.timeout(_seconds_left(call) * 0.95):
                await _envelope(client, mail)
                await _content(client, mail.content)
        except Definite:
            raise
        except _LOST as error:
            why = f"the connection was lost before the final dot ({type(error).__name__})"
            raise Refused(why, again=True) from error
        except asyncio.CancelledError as error:
            raise Refused("stopped before the final dot", again=True) from error
        except Exception as error:
            raise Refused(f"not handed over ({type(error).__name__})") from error
        if datetime.now(UTC) >= call.deadline:  # the worker was frozen
            raise Refused("the time was over before the final dot", again=True)
        return await _final_dot(client)


@asynccontextmanager
async def _connected(server: MailServer, within: float) -> AsyncIterator[aiosmtplib.SMTP]:
    client = aiosmtplib.SMTP(
        hostname=server.host,
        port=server.port,
        username=server.username,
        password=server.password,
        use_tls=server.tls is Tls.IMPLICIT,
        start_tls=server.tls is Tls.STARTTLS,
        tls_context=server.trust,
        timeout=REPLY_SECONDS,
    )
    try:
        try:
            async with asyncio.timeout(within):
                await client.connect()
                await _greet(client)
        except aiosmtplib.SMTPResponseException as error:
            raise NotSent(f"not connected: {_in_words(error.code, error.message)}") from error
        except (Exception, asyncio.CancelledError) as error:
            raise NotSent(f"not connected to the mail server ({type(error).__name__})") from error
        yield client
    finally:
        client.close()


async def _greet(client: aiosmtplib.SMTP) -> None:
    """EHLO, or HELO where that is unknown; with TLS or a password it has been said already."""
    if client.is_ehlo_or_helo_needed:
        try:
            await client.ehlo()
        except aiosmtplib.SMTPHeloError:
            await client.helo()


async def _envelope(client: aiosmtplib.SMTP, mail: Sealed) -> None:
    """Everything up to DATA's 354; one refused recipient refuses the message."""
    try:
        await client.mail(mail.sender)
    except aiosmtplib.SMTPResponseException as error:
        raise _refused(error.code, error.message, "MAIL FROM") from error
    refused: list[Refused] = []
    for number, recipient in enumerate(mail.recipients, start=1):
        try:
            await client.rcpt(recipient)
        except aiosmtplib.SMTPResponseException as error:
            what = f"recipient {number} of {len(mail.recipients)}"
            refused.append(_refused(error.code, error.message, what))
    for one in sorted(refused, key=lambda one: one.again):  # what is final comes first
        raise one
    reply = await client.execute_command(b"DATA")
    if reply.code != 354:
        raise _refused(reply.code, reply.message, "DATA")


async def _content(client: aiosmtplib.SMTP, content: bytes) -> None:
    """All but the dot, down to the last byte in our own buffers."""
    protocol = client.protocol
    if protocol is None:
        raise aiosmtplib.SMTPServerDisconnected("connection lost")
    ended = content if content.endswith(b"\r\n") else content + b"\r\n"
    protocol.write(_LINE_START_DOT.sub(b"..", ended))
    while client.is_connected and protocol.transport is not None:
        if not isinstance(protocol.transport, asyncio.WriteTransport):
            break
        if not protocol.transport.get_write_buffer_size():
            return
        await asyncio.sleep(0.005)
    raise aiosmtplib.SMTPServerDisconnected("connection lost")


async def _final_dot(client: aiosmtplib.SMTP) -> str:
    try:
        reply = await client.execute_command(b".", timeout=None)
    except _LOST as error:
        why = f"the final dot was sent, and no answer came ({type(error).__name__})"
        raise Ambiguous(why) from error
    if 400 <= reply.code < 600:
        raise _refused(reply.code, reply.message, "the message")
    if not 200 <= reply.code < 300:
        raise Ambiguous(f"the final dot was sent, and {_in_words(reply.code, reply.message)}")
    with suppress(*_LOST, asyncio.CancelledError):  # whatever comes now, the message is taken
        await client.quit(timeout=GOODBYE_SECONDS)
    return f"{reply.code} {reply.message}"[:200]


def _refused(code: int, text: str, what: str) -> Refused:
    return Refused(f"{_in_words(code, text)} to {what}", again=not 500 <= code < 600)


def _in_words(code: int, text: str) -> str:
    """The codes only: a reply's text may quote the address."""
    enhanced = _ENHANCED.match(text)
    return f"the mail server answered {code}{f' {enhanced[0]}' if enhanced else ''}"


def _seconds_left(call: Call) -> float:
    left = (call.deadline - datetime.now(UTC)).total_seconds()
    if left <= 0:
        raise NotSent("the worker woke up too late to send")
    return left
