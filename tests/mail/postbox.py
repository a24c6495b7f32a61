"""A real SMTP server that keeps what it takes, and misbehaves by recipient."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage

from aiosmtpd.smtp import SMTP, AuthResult

from surestep.mail import MailServer
from surestep.mail.server import Tls


class Postbox:
    """`fates[recipient]` is a list; each mail to the recipient takes the next one from it.

    mail CODE, rcpt CODE, data CODE, dot CODE   that phase is answered with the code
    drop at PHASE                               the connection is cut instead of the answer
    drop in content                             cut after a part of the content
    stall in content                            a part is read, and then nothing
    drop after dot, taken                       the mail is kept, the answer is not sent
    silent after dot, taken                     kept, and nothing more is said
    garbage after dot, taken                    kept, and the answer is none
    """

    def __init__(self) -> None:
        self.fates: dict[str, list[str]] = {}
        self.mails: list[tuple[str, bytes]] = []
        self.connections = 0
        self.held, self.stalled = asyncio.Event(), asyncio.Event()
        self.port = 0

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncIterator["Postbox"]:
        box = cls()
        servers: list[Talk] = []

        def talk() -> Talk:
            box.connections += 1
            servers.append(Talk(box))
            return servers[-1]

        listening = await asyncio.get_running_loop().create_server(talk, "127.0.0.1", 0)
        box.port = listening.sockets[0].getsockname()[1]
        try:
            yield box
        finally:
            listening.close()
            for one in servers:
                await one.end()

    @property
    def server(self) -> MailServer:
        return MailServer("127.0.0.1", self.port, Tls.OFF)

    def to(self, recipient: str) -> list[EmailMessage]:
        return [
            message_from_bytes(content, policy=policy.default)
            for address, content in self.mails
            if address == recipient
        ]

    def fate(self, recipient: str, phase: str) -> str | None:
        """The next fate of this recipient, if it is one of this phase; it is then used up."""
        fates = self.fates.get(recipient, [])
        return fates.pop(0) if fates and phase in fates[0] else None

    async def handle_MAIL(self, server, session, envelope, address, options):  # noqa: N802
        envelope.mail_from = address
        return answered(server, self.fate(address, "mail"))

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802
        answer = answered(server, self.fate(address, "rcpt"))
        if answer.startswith("250"):
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        fate = self.fate(envelope.rcpt_tos[0], "dot")
        if fate is None or "taken" in fate:
            self.mails += [(one, bytes(envelope.content)) for one in envelope.rcpt_tos]
        match fate and fate.split()[0]:
            case "silent":
                await self.held.wait()
            case "garbage":
                return "what"
        return answered(server, fate)


def answered(server: SMTP, fate: str | None) -> str:
    if fate is None:
        return "250 2.0.0 taken"
    if fate.startswith("drop"):
        server.transport.abort()
        return "250 never seen"
    code = fate.split()[-1]
    return f"{code} {code[0]}.1.1 no such luck for june@example.com"


class Talk(SMTP):
    """One conversation. AUTH knows one password."""

    def __init__(self, box: Postbox) -> None:
        super().__init__(
            box, hostname="box", authenticator=known, auth_require_tls=False, timeout=60
        )
        self.box = box

    async def smtp_DATA(self, arg):  # noqa: N802
        recipient = self.envelope.rcpt_tos[0] if self.envelope.rcpt_tos else ""
        if fate := self.box.fate(recipient, "data"):
            await self.push(answered(self, fate))
        elif fate := self.box.fate(recipient, "content"):
            await self.push("354 go on")
            await self._reader.read(100)
            if fate.startswith("stall"):
                self.box.stalled.set()
                await self.box.held.wait()
            self.transport.abort()
        else:
            await super().smtp_DATA(arg)

    async def end(self) -> None:
        self.box.held.set()
        if self.transport:
            self.transport.abort()
        await asyncio.gather(self._handler_coroutine, return_exceptions=True)


def known(server, session, envelope, mechanism, data) -> AuthResult:
    return AuthResult(success=data.password == b"right", handled=False)
