"""What is written, and the call that sends it."""

from datetime import UTC, datetime, timedelta
from email.message import EmailMessage

from pydantic import BaseModel

from surestep import Call


class Letter(BaseModel):
    to: str
    name: str = "June"
    written: datetime = datetime(2030, 6, 1, 12, tzinfo=UTC)
    pages: int = 1


def letter(args: Letter) -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Us <us@example.org>"
    message["To"] = args.to
    message["Subject"] = "Welcome"
    message["Date"] = args.written
    page = f"Grüße, {args.name}\n.\n..dots at the start of lines\n"
    message.set_content(page * args.pages)
    message.add_alternative(f"<p>Grüße, {args.name}</p>", subtype="html")
    return message


def call(action_id: str = "step/welcome", seconds: float = 20) -> Call:
    return Call(action_id, attempt=1, deadline=datetime.now(UTC) + timedelta(seconds=seconds))
