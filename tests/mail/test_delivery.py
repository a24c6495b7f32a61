"""One message over a real wire: how far it came decides what is proven."""

from email.message import EmailMessage

import pytest

from surestep import Ambiguous, NotSent, Refused
from surestep.embedded_process import free_port
from surestep.mail import MailServer
from surestep.mail.server import Tls
from tests.mail.letters import Letter, call

JUNE = "june@example.com"
LONG = 100_000  # pages; more than the buffers of two sockets hold


async def test_a_mail_is_handed_over_once_and_whole(box, tool):
    receipt = await tool.execute_with(Letter(to=JUNE), call())
    (mail,) = box.to(JUNE)
    assert receipt.id == mail["Message-ID"]
    assert receipt.id.endswith("@example.org>")
    assert receipt.result == {"reply": "250 2.0.0 taken"}
    text = mail.get_body(("plain",)).get_content()
    assert text == "Grüße, June\n.\n..dots at the start of lines\n"
    assert mail["Date"].datetime.year == 2030


async def test_a_line_that_begins_with_a_dot_neither_ends_the_mail_nor_loses_it(box, tool):
    text = ".\n..\n.begins with a dot\nends"

    @tool.compose
    def _(args):
        message = EmailMessage()
        message["From"], message["To"] = "us@example.org", args.to
        message.set_content(text)
        return message

    await tool.execute_with(Letter(to=JUNE), call())
    (mail,) = box.to(JUNE)
    assert mail["Content-Transfer-Encoding"] == "7bit"
    assert mail.get_content().replace("\r\n", "\n") == f"{text}\n"


async def test_what_is_not_ascii_and_what_is_long_arrives_as_it_was_written(box, tool):
    text, picture = f"Grüße ✓ {'x' * 5000}\n貨物\n", bytes(range(256)) * 40

    @tool.compose
    def _(args):
        message = EmailMessage()
        message["From"], message["To"] = "Jürgen <us@example.org>", f"Zoë Ж <{args.to}>"
        message["Subject"] = f"Grüße ✓ {'sehr ' * 60}lang"
        message.set_content(text)
        message.add_attachment(picture, maintype="image", subtype="png", filename="größe.png")
        return message

    await tool.execute_with(Letter(to=JUNE), call())
    (mail,) = box.to(JUNE)
    ((_, content),) = box.mails
    assert content.isascii()
    assert max(map(len, content.split(b"\r\n"))) <= 998
    assert mail["To"].addresses[0].display_name == "Zoë Ж"
    assert mail["Subject"].startswith("Grüße ✓ sehr ")
    assert mail.get_body().get_content().replace("\r\n", "\n") == text
    (attached,) = mail.iter_attachments()
    assert (attached.get_filename(), attached.get_content()) == ("größe.png", picture)


@pytest.mark.parametrize(
    ("fate", "again", "words"),
    [
        ("rcpt 550", False, r"answered 550 5\.1\.1 to recipient 1 of 1"),
        ("rcpt 451", True, "451"),
        ("drop at rcpt", True, "before the final dot"),
        ("data 554", False, "554 .* to DATA"),
        ("data 451", True, "451"),
        ("data 250", True, "250 .* to DATA"),
        ("drop at data", True, "before the final dot"),
        ("dot 552", False, "552 .* to the message"),
        ("dot 451", True, "451"),
        ("dot 421", True, "421"),
    ],
)
async def test_what_the_server_did_not_take_is_definite(box, tool, fate, again, words):
    box.fates[JUNE] = [fate]
    with pytest.raises(Refused, match=words) as refused:
        await tool.execute_with(Letter(to=JUNE), call())
    assert refused.value.again is again
    assert "june@" not in str(refused.value)
    assert box.mails == []
    await tool.execute_with(Letter(to=JUNE), call())
    assert len(box.to(JUNE)) == 1


@pytest.mark.parametrize(
    ("fate", "again"), [("mail 550", False), ("mail 451", True), ("drop at mail", True)]
)
async def test_a_refused_sender_is_definite(box, tool, fate, again):
    box.fates["us@example.org"] = [fate]
    with pytest.raises(Refused) as refused:
        await tool.execute_with(Letter(to=JUNE), call())
    assert refused.value.again is again
    assert box.mails == []


async def test_a_connection_lost_within_the_content_is_definite(box, tool):
    box.fates[JUNE] = ["drop in content"]
    with pytest.raises(Refused, match="before the final dot") as refused:
        await tool.execute_with(Letter(to=JUNE, pages=LONG), call())
    assert refused.value.again
    assert box.mails == []


@pytest.mark.parametrize("fate", ["drop after dot, taken", "drop after dot", "dot 150"])
async def test_no_clear_answer_to_the_final_dot_is_ambiguous(box, tool, fate):
    box.fates[JUNE] = [fate]
    with pytest.raises(Ambiguous, match="the final dot was sent"):
        await tool.execute_with(Letter(to=JUNE), call())
    assert len(box.mails) == ("taken" in fate)


async def test_an_unreadable_answer_to_the_final_dot_is_ambiguous(box, tool):
    box.fates[JUNE] = ["garbage after dot, taken"]
    with pytest.raises(Ambiguous, match="the final dot was sent"):
        await tool.execute_with(Letter(to=JUNE), call())
    assert len(box.mails) == 1


async def test_one_refused_recipient_refuses_the_whole_mail(box, tool):
    box.fates["may@example.com"] = ["rcpt 451"]
    box.fates["july@example.com"] = ["rcpt 550"]
    letter = Letter(to=f"{JUNE}, may@example.com, july@example.com")
    with pytest.raises(Refused, match=r"550 5\.1\.1 to recipient 3 of 3") as refused:
        await tool.execute_with(letter, call())
    assert not refused.value.again
    assert box.mails == []


async def test_without_a_session_nothing_was_sent(box, tool):
    servers = {
        "nobody listens": MailServer("127.0.0.1", free_port(), Tls.OFF),
        "no STARTTLS": MailServer("127.0.0.1", box.port, Tls.STARTTLS),
        "no TLS": MailServer("127.0.0.1", box.port, Tls.IMPLICIT),
        "no such host": MailServer("nowhere.invalid", 25, Tls.OFF),
        "wrong password": MailServer("127.0.0.1", box.port, Tls.OFF, "us", "wrong"),
    }
    for name, server in servers.items():
        tool._server = lambda server=server: server
        with pytest.raises(NotSent, match="not connected") as error:
            await tool.execute_with(Letter(to=JUNE), call())
        assert ("535" in str(error.value)) is (name == "wrong password")
    assert box.mails == []


async def test_the_right_password_is_used(box, tool):
    tool._server = lambda: MailServer("127.0.0.1", box.port, Tls.OFF, "us", "right")
    await tool.execute_with(Letter(to=JUNE), call())
    assert len(box.to(JUNE)) == 1


async def test_an_attempt_whose_time_is_over_does_not_connect(box, tool):
    with pytest.raises(NotSent, match="too late"):
        await tool.execute_with(Letter(to=JUNE), call(seconds=-1))
    assert box.connections == 0


async def test_a_server_that_cannot_be_read_from_the_environment_names_the_remedy(monkeypatch):
    for url in ("", "mail.example.com", "smtp://", "smtp://host?tls=maybe", "smtp://host:port"):
        with pytest.raises(NotSent, match="set it to a value such as smtp://"):
            MailServer.from_environment({"SMTP_URL": url})


def test_the_environment_says_where_and_the_password_stays_out_of_sight():
    server = MailServer.from_environment({"SMTP_URL": "smtps://us%40example.org:a%2Fb@host"})
    assert (server.host, server.port, server.tls) == ("host", 465, Tls.IMPLICIT)
    assert (server.username, server.password) == ("us@example.org", "a/b")
    assert "a/b" not in repr(server)
    local = MailServer.from_environment({"SMTP_URL": "smtp://localhost?tls=off"})
    assert (local.port, local.tls, local.username) == (25, Tls.OFF, None)
    assert MailServer.from_environment({"SMTP_URL": "smtp://host"}).port == 587
