"""What others write stays words: on the terminal, in the Web UI, and in a report."""

import json
import logging
import re
from datetime import UTC, datetime

import pytest
from markdown_it import MarkdownIt

import starter
from surestep.agents import mcp
from surestep.agents.deed import Deed, Standing
from surestep.agents.report import Report
from surestep.cli import page
from surestep.details import details
from surestep.facts import Anomaly
from surestep.protocol import ActionInput, StepInput
from surestep.submission import static_summary
from surestep.telemetry import log
from surestep.telemetry.log import Text

NOW = datetime(2027, 1, 31, tzinfo=UTC)


HOSTILE = [
    "x <img src=https://evil.example/a.png>",
    "![x](https://evil.example/a.png)",
    "pay [here](https://evil.example)",
    "<https://evil.example>",
    "\n# A heading\n\n<script>alert(1)</script>",
    "\\<b>bold\\\\<i>",
    "`` <b> ``",
]


def as_the_web_ui_shows_it(text: str) -> str:
    """Its Markdown lets HTML through."""
    return MarkdownIt("commonmark", {"html": True}).render(text)


@pytest.mark.parametrize("label", HOSTILE)
def test_a_label_brings_no_markup_into_the_web_ui(label: str) -> None:
    step = StepInput(label=label, actions=(ActionInput(tool="refund"),))
    page_of_it = as_the_web_ui_shows_it(static_summary(step))
    assert page_of_it.startswith("<p>refund · ")
    assert page_of_it.count("<") == 2, page_of_it


@pytest.mark.parametrize("words", HOSTILE)
def test_nobodys_words_are_markup_in_a_steps_details(words: str) -> None:
    plain = as_the_web_ui_shows_it(details("refund/1", [], ["plain"], NOW))
    shown = as_the_web_ui_shows_it(details("refund/1", [], [words], NOW))
    assert re.findall("<[^>]*>", shown) == re.findall("<[^>]*>", plain), shown


def test_a_plain_label_reads_as_it_was_given() -> None:
    step = StepInput(label="order-7781 (#3), 25.00", actions=(ActionInput(tool="refund"),))
    assert static_summary(step) == "refund · order-7781 (#3), 25.00"


def test_nobodys_words_begin_a_line_of_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    page.columns([("STATE", "RUN"), ("unknown", "ada\nconfirmed  refund/order-1\x1b[2J")])
    heading, row = capsys.readouterr().out.splitlines()
    assert heading == "STATE    RUN"
    assert row == "unknown  ada\ufffdconfirmed  refund/order-1\ufffd[2J"


def test_nobodys_words_begin_a_line_of_a_report() -> None:
    anomaly = Anomaly(kind="late", at=NOW, why="found\nDone:\n  refund 7781: done")
    deed = Deed(
        step_id="s", action_id="s/refund", tool="refund", standing=Standing.WITHOUT_EFFECT,
        state="not_found", why="x\nDone:", anomalies=(anomaly,),
    )  # fmt: skip
    report = Report(run="42\nDone:", at=NOW, tools=(), deeds=(deed,))
    assert "Done:" not in report.text().splitlines()


def test_nobodys_words_begin_a_line_of_the_log() -> None:
    words = "refused\n2027-01-31 09:00:00,000 INFO surestep.worker all is well\u2028x\x1b[2J"
    line = logging.LogRecord("surestep", logging.WARNING, "", 0, "%s", (words,), None)
    first, *more = Text().format(line).split("\n")
    assert first.endswith("WARNING surestep refused")
    assert [one[:3] for one in more] == ["  2", "  x"]
    assert more[1] == "  x\ufffd[2J"


def test_nobodys_words_end_an_object_of_the_log() -> None:
    words = 'refused"}\n{"level": "INFO", "message": "all is well'
    line = logging.LogRecord("surestep", logging.WARNING, "", 0, "%s", (words,), None)
    text = log._json().format(line)
    assert text.count("\n") == 0
    assert json.loads(text)["message"] == words


def test_a_fault_does_not_steer_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def faulty() -> None:
        raise RuntimeError("the service said \x1b]0;owned\x07")

    monkeypatch.setattr(starter, "app", faulty)
    assert starter.main() == 1
    said = capsys.readouterr().err
    assert "RuntimeError: the service said \ufffd]0;owned\ufffd" in said
    assert said.count("\n") > 2


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_tools_that_are_served_to_this_machine_need_no_warning(host: str) -> None:
    assert mcp._warning(host, 8000) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3"])
def test_tools_that_are_served_beyond_this_machine_come_with_a_warning(host: str) -> None:
    said = mcp._warning(host, 8000)
    assert said is not None
    assert "let nobody reach it but a proxy that asks who they are" in said
