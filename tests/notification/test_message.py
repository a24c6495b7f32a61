"""What is told: enough to act at three in the morning, and nothing that must not be told."""

import json
import re
from pathlib import Path

import pytest

from surestep.notification.message import TEXT_LIMIT, Message, one_line
from surestep.questions import Occasion
from tests.notification.orders import order

UI = "https://temporal.example.com/namespaces/default/workflows/refund%2Forder-7781"


@pytest.mark.parametrize(
    ("fields", "subject"),
    [
        ({}, "Surestep: refund of 7781 is unknown"),
        ({"recognised": ""}, "Surestep: refund is unknown"),
        (
            {"state": "planned", "verdicts": ("approve", "refuse")},
            "Surestep: refund of 7781 needs approval",
        ),
        ({"occasion": Occasion.OVERDUE}, "Surestep: nobody has answered about refund of 7781"),
        (
            {"occasion": Occasion.OVERDUE, "decided": "ann decided to retry"},
            "Surestep: what was decided about refund of 7781 is not done",
        ),
        ({"occasion": Occasion.ANOMALY}, "Surestep: an anomaly of refund of 7781"),
    ],
)
def test_the_subject_says_what_it_is_about(fields, subject):
    assert Message(order(**fields)).subject == subject


def test_the_text_says_what_why_since_when_and_where_to_go_on():
    assert Message(order(), UI).text == (
        "refund of 7781 is unknown, and only a person can settle it. Do not repeat it by hand or "
        "by a new step before it is known what happened.\n"
        "\n"
        "Why:      a request may have left, and nothing was found since\n"
        "Since:    2030-01-02 03:04:05 UTC\n"
        "Step:     refund/order-7781\n"
        "Action:   refund\n"
        "Run:      0197a1c2\n"
        "Accepted: confirm, retry\n"
        "\n"
        "Look at it:  python starter.py show refund/order-7781\n"
        "All of them: python starter.py unresolved\n"
        f"Web UI:      {UI}\n"
    )


def test_a_question_for_approval_does_not_speak_of_repeating():
    text = Message(order(state="planned", verdicts=("approve", "refuse"))).text
    assert text.startswith("refund of 7781 waits. It is not sent before somebody approves it.")
    assert "repeat" not in text


def test_silence_is_said_to_change_nothing():
    text = Message(order(occasion=Occasion.OVERDUE)).text
    assert "neither repeated nor given up by itself" in text


def test_without_a_known_web_ui_there_is_no_link():
    message = Message(order())
    assert message.document["link"] is None
    assert "Web UI" not in message.text


def test_the_documentation_names_every_field_of_the_json_and_no_others():
    page = (Path(__file__).parents[2] / "docs/notifications.md").read_text()
    table = page.partition("| field | what it is |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert json.loads(Message(order(), UI).body).keys() == named


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain", "plain"),
        ("two\r\nlines\tand  spaces ", "two lines and spaces"),
        ("<!channel> <https://evil.example|approve>", "(!channel) (https://evil.example|approve)"),
        ("right\u202eto left, zero\u200bwidth, half \ud800", "right to left, zero width, half"),
        ("bell\x07 and escape \x1b[31m", "bell and escape [31m"),
        ("Grüße", "Grüße"),
    ],
)
def test_a_text_that_is_not_ours_is_one_plain_line(text, line):
    assert one_line(text) == line


def test_a_text_that_is_not_ours_is_bounded():
    assert len(one_line("x" * 10_000)) == TEXT_LIMIT
    message = Message(order(recognised="x" * 10_000, why="y" * 1_000_000))
    assert len(message.body) < 4000
