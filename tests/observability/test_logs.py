"""The log: a line for each piece of evidence, with what it is about, and no word of others."""

import logging

import pytest

from surestep.telemetry.log import Text
from tests.observability.conftest import AGENT_RUN, CANARY, LOST, OK


def of(observed, step):
    return [line for line in observed.log if line.get("step") == step and "evidence" in line]


def test_an_action_leaves_a_line_for_each_piece_of_its_evidence(observed):
    lines = of(observed, OK)
    assert [line["evidence"] for line in lines] == ["planned", "dispatched", "attempted", "closed"]
    assert [line["state"] for line in lines] == ["planned", "sent", "confirmed", "confirmed"]


def test_a_line_names_step_run_action_tool_attempt_and_trace(observed):
    for line in of(observed, OK):
        assert line["action"] == f"{OK}/letter"
        assert line["run"] == AGENT_RUN
        assert line["tool"] == "letter"
        assert line["trace_id"] == observed.trace_id
        assert len(line["span_id"]) == 16
        assert line["workflow_run"]
    assert [line["attempt"] for line in of(observed, OK)] == [0, 1, 1, 1]


def test_a_doubt_tells_of_its_looks_its_question_and_its_decision(observed):
    lines = of(observed, LOST)
    by_kind = {line["evidence"]: line for line in lines}
    assert by_kind["attempted"]["outcome"] == "ambiguous"
    assert by_kind["looked"]["finding"] == "unknown"
    assert by_kind["asked"]["level"] == by_kind["escalated"]["level"] == "WARNING"
    assert by_kind["decided"]["verdict"] == "leave_unknown"
    assert by_kind["decided"]["result"] == "taken"
    assert any("next look" in line["message"] for line in lines)


def test_the_log_holds_no_argument_and_no_note_of_a_person(observed):
    assert not any(CANARY in str(line) for line in observed.log)


def test_every_line_is_an_object_with_time_level_and_logger(observed):
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in observed.log)
    assert not any("temporal_workflow" in line for line in observed.log)


def test_nobody_s_words_can_begin_a_line():
    line = logging.makeLogRecord({"name": "m", "msg": "said\n2026-11-30 INFO all is well"})
    assert Text().format(line).splitlines()[1].startswith("  2026")


@pytest.mark.parametrize(
    ("known", "ends"),
    [
        ({}, "m refund/7"),
        ({"step": "letter/9"}, "m refund/7 [letter/9]"),
        ({"step": "refund/7", "trace_id": "ab"}, "m refund/7 [trace ab]"),
    ],
)
def test_a_line_of_text_says_in_brackets_what_the_message_does_not(known, ends):
    line = logging.makeLogRecord({"name": "m", "msg": "refund/7", "levelname": "INFO", **known})
    assert Text().format(line).endswith(ends)
