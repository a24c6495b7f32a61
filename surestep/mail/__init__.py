"""Mail: a blind effect, definite until the message's final dot has left, ambiguous after it.

    class Welcome(BaseModel):
        to: str
        name: str
        written: datetime               # the Date; made once, by the agent

    welcome = MailTool("welcome", Welcome, recognise="to")

    @welcome.compose
    def _(args: Welcome) -> EmailMessage:
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = "us@example.com", args.to, "Welcome"
        message["Date"] = args.written
        message.set_content(f"Hello {args.name}")
        return message

    outcome = await surestep.run("welcome/june", *welcome.each(people), mode="parallel")

What is promised, and what is not

* *Nothing twice by itself.* SMTP has no key and no lookup. When the connection is lost after the
  final dot, the server may have taken the message, and nobody can know: a human is asked. Where an
  IMAP folder or the provider's API can be searched for the Message-ID, add
  `@welcome.verify` (`welcome.message_id(args, call)` is what to look for).
* *One message.* All attempts send the same bytes under the same Message-ID, derived from the
  actionId, so a reader's mail box has a chance to fold what a human decided to send again. So
  `compose` may use only its arguments. A `Date` comes from the arguments or is left out: most
  submission servers then add their own (RFC 6409, 8), and spam filters mind where none does.
* *All recipients or none.* If the server refuses one of them, the message is not sent. `each`
  makes one action per entry: fifty mails that die at the twentieth then go on at the twenty-first.
* *Confirmed means handed over.* The server's 250 is its word to deliver or to bounce; it is no
  proof of delivery.
"""

try:
    import aiosmtplib as _driver  # noqa: F401
except ImportError as error:
    raise ImportError("mail tools need aiosmtplib: pip install 'surestep[mail]'") from error

from surestep.mail.server import MailServer
from surestep.mail.tool import PROMISES, MailTool, promises

__all__ = ["PROMISES", "MailServer", "MailTool", "promises"]
