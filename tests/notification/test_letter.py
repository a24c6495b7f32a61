"""A mail: what a reader's mail box shows, and that repetitions can be told as such."""

from datetime import timedelta

import pytest

from surestep import NotSent, Refused
from surestep.embedded_process import free_port
from surestep.notification.letter import Letter
from surestep.notification.message import Message
from surestep.notification.targets import targets
from tests.mail.postbox import Postbox
from tests.notification.orders import order

JUNE = "june@example.com"
MESSAGE = Message(order())


@pytest.fixture
async def box():
    async with Postbox.open() as running:
        yield running


def letter(port: int, more: str = "", credentials: str = "") -> Letter:
    (target,) = targets([f"mailto:{JUNE}"])
    url = f"smtp://{credentials}127.0.0.1:{port}?tls=off{more}"
    return Letter(target, url, timedelta(seconds=20))


async def test_it_says_that_a_machine_wrote_it_and_when(box):
    await letter(box.port, "&from=surestep@example.org").tell(MESSAGE)
    (mail,) = box.to(JUNE)
    assert mail["From"] == "surestep@example.org"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Date"]
    assert "python starter.py show refund/order-7781" in mail.get_content()


async def test_a_repetition_has_the_same_message_id_and_another_message_another(box):
    mailing = letter(box.port)
    await mailing.tell(MESSAGE)
    await mailing.tell(MESSAGE)
    await mailing.tell(Message(order(id="another/question/1")))
    first, again, other = (mail["Message-ID"] for mail in box.to(JUNE))
    assert first == again != other


@pytest.mark.parametrize(
    ("credentials", "sender"),
    [("", JUNE), ("ops%40example.org:right@", "ops@example.org"), ("ops:right@", JUNE)],
)
async def test_without_from_the_sender_is_the_user_or_the_reader(box, credentials, sender):
    await letter(box.port, credentials=credentials).tell(MESSAGE)
    (mail,) = box.to(JUNE)
    assert mail["From"] == sender


async def test_an_argument_cannot_break_into_the_headers(box):
    odd = "7781\r\nBcc: eve@example.com\r\n\r\nGrüße \ud800"
    await letter(box.port).tell(Message(order(recognised=odd)))
    ((reader, _),) = box.mails
    (mail,) = box.to(JUNE)
    assert reader == JUNE
    assert mail["Bcc"] is None
    assert mail["Subject"] == "Surestep: refund of 7781 Bcc: eve@example.com Grüße is unknown"


async def test_a_long_subject_arrives_whole(box):
    message = Message(order(recognised="x" * 150, step_id="y" * 200, id="z" * 250))
    await letter(box.port).tell(message)
    (mail,) = box.to(JUNE)
    assert mail["Subject"] == message.subject


@pytest.mark.parametrize("fate", ["rcpt 550", "data 451", "drop at rcpt"])
async def test_what_the_server_does_not_take_is_not_told(box, fate):
    box.fates[JUNE] = [fate]
    with pytest.raises(Refused) as refused:
        await letter(box.port).tell(MESSAGE)
    assert "june" not in str(refused.value)


async def test_a_wrong_password_is_not_in_the_words(box):
    with pytest.raises(NotSent, match="535") as failure:
        await letter(box.port, credentials="ops:WRONG@").tell(MESSAGE)
    assert "WRONG" not in str(failure.value)


async def test_where_no_server_listens_nothing_is_sent():
    with pytest.raises(NotSent, match="not connected"):
        await letter(free_port()).tell(MESSAGE)
