"""The judge is judged: each thing that must not be is found, and counted once."""

from datetime import UTC, datetime

import pytest

from surestep import Outcome, State
from surestep.testing.faults import LOOKUP_FAULTS, WRITE_FAULTS
from surestep.testing.ledger import RequestRow
from tests.matrix.cell import Cell, Result
from tests.matrix.columns import COLUMNS
from tests.matrix.matrix import cells
from tests.matrix.page import PLACE, entry
from tests.matrix.rows import ROWS, Row
from tests.matrix.theory import Way
from tests.matrix.tools import Style
from tests.matrix.verdict import totals, violations

BY_TITLE = {column.title: column for column in COLUMNS}
C, R, N = State.CONFIRMED, State.REJECTED, State.NOT_FOUND


def cell(title, write, **more):
    return Cell(BY_TITLE[title], Style.NAIVE, Row(write, **more))


def result(cell, state, *, effects, asked=False, requests=()):
    outcome = state and Outcome(action_id="s/a", name="a", tool="a", state=state, why="")
    return Result(cell, "s", outcome, asked, effects, list(requests))


def request(key, content):
    now = datetime.now(UTC)
    return RequestRow(method="POST", path="/", key=key, sha256=content, body="", at=now)


LOST = cell("keyed, lookup", "reply_lost")
BLIND = cell("blind", "reply_lost")


@pytest.mark.parametrize(
    ("wrong", "counted"),
    [
        (result(LOST, C, effects=2), "duplicates"),
        (result(LOST, C, effects=0), "false_confirmed"),
        (result(LOST, N, effects=1), "false_not_found"),
        (result(LOST, R, effects=1), "false_not_found"),
        (result(LOST, C, effects=1, asked=True), "unknown_avoidable"),
    ],
)
def test_what_must_not_be_is_found_and_counted(wrong, counted):
    assert len(violations(wrong)) == 1
    found = totals([wrong])
    assert getattr(found, counted) == 1
    rest = {name: value for name, value in vars(found).items() if name not in ("cells", counted)}
    assert set(rest.values()) == {0}


@pytest.mark.parametrize(
    "wrong",
    [
        result(LOST, None, effects=1),
        result(BLIND, C, effects=1),  # nobody was asked, and nobody could know
        result(LOST, C, effects=1, requests=[request("k", "1"), request("k", "2")]),
    ],
)
def test_what_no_total_counts_is_found_as_well(wrong):
    assert violations(wrong)


def test_asking_what_nobody_can_know_is_right():
    asked = result(BLIND, C, effects=1, asked=True)
    assert violations(asked) == []
    assert totals([asked]).unknown_unavoidable == 1
    assert entry(asked) == "?C"


def test_a_broken_hypothesis_is_told_and_not_counted():
    twice = result(cell("lookup", "twice"), C, effects=2)
    assert violations(twice) == []
    assert totals([twice]).cells == 0
    assert entry(twice) == "C2"


@pytest.mark.parametrize(
    ("title", "row", "known_by"),
    [
        ("keyed", Row("never_arrives"), Way.KEY),
        ("keyed", Row("never_arrives", lasting=True), None),
        ("lookup", Row("reply_lost"), Way.HIT),
        ("lookup", Row("never_arrives"), None),
        ("lookup, Δ λ", Row("never_arrives"), Way.MISS),
        ("lookup, Δ λ", Row("reply_lost", look="hang", look_lasting=True), None),
        ("fenced", Row("reply_lost", look="hang", look_lasting=True), Way.FENCE),
        ("stores failures", Row("error_after:500"), Way.HIT),
        ("blind", Row("honest"), Way.ANSWER),
        ("blind", Row("error_before:404"), None),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_what_can_be_known_is_said_beforehand(title, row, known_by):
    assert Cell(BY_TITLE[title], Style.NAIVE, row).way is known_by


def test_every_fault_of_the_world_has_a_row():
    assert {row.write.partition(":")[0] for row in ROWS} == set(WRITE_FAULTS)
    looks = {row.look.partition(":")[0] for row in ROWS if row.look}
    assert looks | {"honest"} == set(LOOKUP_FAULTS)
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_the_page_has_every_row_and_every_column():
    page = PLACE.read_text(encoding="utf-8")
    assert [row.name for row in ROWS if f"| `{row.name}` |" not in page] == []
    assert [column.title for column in COLUMNS if f"| {column.title} |" not in page] == []
    assert {one.column for one in cells()} == set(COLUMNS)
