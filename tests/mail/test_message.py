"""The message: byte-identical for one action, different for two."""

import random
import time
from email.message import EmailMessage

import pytest

from surestep import InvalidArguments, Refused
from surestep.mail import MailTool
from surestep.mail.message import sealed
from tests.mail.letters import Letter, call, letter

JUNE = "june@example.com"


def test_every_attempt_of_an_action_sends_the_same_bytes():
    first = sealed(letter, Letter(to=JUNE), call())
    random.seed(1)  # the email package draws boundaries
    assert sealed(letter, Letter(to=JUNE), call(seconds=5)) == first
    assert first.content.isascii()
    assert b"\r\nMessage-ID: " + first.id.encode() in first.content


def test_two_actions_send_two_messages():
    one, other = (sealed(letter, Letter(to=JUNE), call(key)) for key in ("a/b", "a/c"))
    assert one.id != other.id


def test_a_blind_copy_is_delivered_and_not_shown():
    def compose(args):
        message = letter(args)
        message["Cc"], message["Bcc"] = (
            "may@example.com",
            "July <july@example.com>, june@example.com",
        )
        return message

    mail = sealed(compose, Letter(to=JUNE), call())
    assert mail.recipients == (JUNE, "may@example.com", "july@example.com")
    assert b"july" not in mail.content


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda message: message.add_header("X-Now", str(time.perf_counter_ns())), "same bytes"),
        (lambda message: message.replace_header("To", "jüne@example.com"), "ASCII"),
        (lambda message: message.replace_header("To", "nobody"), "ASCII"),
        (
            lambda message: message.replace_header("From", "a@example.org, b@example.org"),
            "one From",
        ),
        (lambda message: message.__delitem__("To"), "a recipient"),
        (lambda message: message.add_header("X-A", "b\r\nBcc: c@example.org"), "ValueError"),
    ],
)
def test_what_cannot_be_sent_or_not_twice_alike_is_refused(change, words):
    def compose(args):
        message = letter(args)
        change(message)
        return message

    with pytest.raises(Refused, match=words):
        sealed(compose, Letter(to=JUNE), call())


def test_no_bare_line_end_can_smuggle_a_second_message():
    def compose(args):
        message = EmailMessage()
        message["From"], message["To"] = "us@example.org", args.to
        message["Content-Transfer-Encoding"] = "7bit"
        message.set_payload("one\n.\rMAIL FROM:<a@example.org>\r.\n")
        return message

    content = sealed(compose, Letter(to=JUNE), call()).content
    assert content.replace(b"\r\n", b"").count(b"\r") == 0
    assert content.count(b"\n") == content.count(b"\r\n")


def test_each_entry_is_an_action_named_after_what_it_says():
    tool = MailTool("a-tool-with-a-very-long-name-of-forty-ch", Letter)
    entries = [{"to": f"{number}@example.com"} for number in range(50)]
    actions = tool.each(entries)
    assert len({action.name for action in actions}) == 50
    assert [one.name for one in tool.each(reversed(entries))] == [one.name for one in actions[::-1]]
    with pytest.raises(InvalidArguments, match="twice"):
        tool.each([entries[0], entries[0]])
