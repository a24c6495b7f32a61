"""A mail, with the delivery of `surestep.mail`."""

from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from urllib.parse import parse_qs, urlsplit

from surestep.mail import MailServer
from surestep.mail.delivery import deliver
from surestep.mail.message import sealed
from surestep.notification.message import Message
from surestep.notification.targets import Target
from surestep.tool import Call


class Letter:
    """`smtp` as SURESTEP_SMTP has it: a MailServer's URL, and `?from=` for the sender.

    Without `from`, the sender is the user name if that is an address, or else the recipient.
    Raises ValueError for a URL that is none.
    """

    def __init__(self, target: Target, smtp: str, within: timedelta) -> None:
        self.name = target.name
        self._to = target.place
        self._within = within
        self._server = MailServer.from_url(smtp)
        user = self._server.username or ""
        given = parse_qs(urlsplit(smtp).query).get("from", [])
        self._sender = next(iter(given), user if "@" in user else self._to)

    async def tell(self, message: Message) -> None:
        now = datetime.now(UTC)
        call = Call(action_id=message.id, attempt=1, deadline=now + self._within)
        mail = sealed(lambda _: self._composed(message, now), None, call)
        await deliver(self._server, mail, call)

    def _composed(self, message: Message, now: datetime) -> EmailMessage:
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = self._sender, self._to, message.subject
        mail["Date"] = format_datetime(now)
        mail["Auto-Submitted"] = "auto-generated"  # so that no absence note answers (RFC 3834)
        mail.set_content(message.text)
        return mail
