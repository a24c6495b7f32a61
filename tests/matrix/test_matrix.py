"""A dozen cells of the matrix; `make matrix` runs them all."""

from dataclasses import asdict

import pytest

from surestep import State
from tests.matrix.cell import Cell
from tests.matrix.columns import COLUMNS
from tests.matrix.matrix import judge
from tests.matrix.page import entry
from tests.matrix.rows import Row
from tests.matrix.tools import Style
from tests.matrix.verdict import totals, violations

NAIVE, DECLARED = Style.NAIVE, Style.DECLARED
QUICK = {
    ("keyed, lookup", NAIVE, "reply_lost"): "C",
    ("keyed", DECLARED, "late_hang:3.5"): "C",
    ("keyed", NAIVE, "never_arrives"): "C",
    ("lookup, Δ λ", NAIVE, "never_arrives"): "C",
    ("lookup", NAIVE, "error_after:500"): "C",
    ("lagging, Δ λ", NAIVE, "truncated"): "C",
    ("blind", NAIVE, "refuse:422"): "?C",
    ("blind", DECLARED, "reply_reset"): "?C",
    ("asynchronous", DECLARED, "accepted_fails:1"): "R",
    ("fenced", NAIVE, "never_arrives"): "C",
    ("stores failures", DECLARED, "error_after:500"): "C",
    ("short life", NAIVE, "redirect:307"): "C",
    ("blind", DECLARED, "twice"): "C2",
}


async def test_whatever_happens_it_happens_once_or_a_human_is_asked(client, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    columns = {column.title: column for column in COLUMNS}
    chosen = [Cell(columns[title], style, Row(text)) for title, style, text in QUICK]
    results = await judge(chosen, client, tmp_path / "world")
    wrong = [
        f"{one.cell.name}: {entry(one)}, {'; '.join(violations(one))}\n{one.told}"
        for one in results
        if violations(one)
        or entry(one) != QUICK[one.cell.column.title, one.cell.style, one.cell.row.name]
    ]
    assert not wrong, "\n".join(["", *wrong])
    assert asdict(totals(results)) == {
        "cells": 12,
        "duplicates": 0,
        "false_confirmed": 0,
        "false_not_found": 0,
        "unknown_avoidable": 0,
        "unknown_unavoidable": 2,
    }
    assert {one.state for one in results} == {State.CONFIRMED, State.REJECTED}


@pytest.mark.parametrize("style", Style)
def test_no_two_tools_share_a_name(style):
    assert len({column.service.name for column in COLUMNS}) == len(COLUMNS)
