"""The message as bytes: the same for every attempt of one action."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from email import policy
from email.message import EmailMessage
from email.utils import getaddresses
from typing import Any, Final

from surestep.errors import Refused
from surestep.tool import Call

Compose = Callable[[Any], EmailMessage]

# Seven bits, so that no relay has a reason to recode the content.
_ON_THE_WIRE: Final = policy.SMTP.clone(cte_type="7bit")

# A bare CR or LF before a dot would end the message early for a lenient server (smuggling).
_ANY_LINE_END: Final = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True)
class Sealed:
    """An envelope and what is in it. `id` is the Message-ID."""

    id: str
    sender: str
    recipients: tuple[str, ...]
    content: bytes


def sealed(compose: Compose, args: Any, call: Call) -> Sealed:
    """Compose and seal. Raises Refused for what cannot be sent, or not twice in the same way."""
    first, second = (_sealed(compose, args, call) for _ in range(2))
    if first != second:
        raise Refused(
            "compose gave two different messages for the same arguments: take dates, ids and "
            "random parts from the arguments, so that every attempt sends the same bytes"
        )
    return first


def _sealed(compose: Compose, args: Any, call: Call) -> Sealed:
    try:
        message = compose(args)
        sender = _addresses(message, "Sender") or _addresses(message, "From")
        recipients = _addresses(message, "To", "Cc", "Bcc")
        if len(sender) != 1 or not recipients:
            raise Refused("a mail needs one From (or a Sender) and a recipient")
        id = f"<{call.token()}@{sender[0].rpartition('@')[2]}>"
        del message["Message-ID"], message["Bcc"]
        message["Message-ID"] = id
        _fix_boundaries(message, call)
        content = _ANY_LINE_END.sub(b"\r\n", message.as_bytes(policy=_ON_THE_WIRE))
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"the mail cannot be composed ({type(error).__name__})") from error
    return Sealed(id, sender[0], tuple(dict.fromkeys(recipients)), content)


def _addresses(message: EmailMessage, *names: str) -> list[str]:
    texts = [str(value) for name in names for value in message.get_all(name, [])]
    found = [address for _, address in getaddresses(texts)]
    for address in found:
        if not address.isascii() or "@" not in address or address.split() != [address]:
            raise Refused("an address is not plain ASCII (SMTPUTF8 is not supported), or is none")
    return found


def _fix_boundaries(message: EmailMessage, call: Call) -> None:
    """The email package would draw them at random for every attempt."""
    parts = [part for part in message.walk() if part.is_multipart()]
    for number, part in enumerate(parts):
        if part.get_content_maintype() == "multipart":
            part.set_boundary(f"{call.token()}-{number}")
