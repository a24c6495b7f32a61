"""What the experiments rest on: the published numbers, the seeds, and Surestep's own cells."""

import os
import subprocess
import sys

import pytest

from tests.steps.processes import ROOT

from . import wrapper
from .campaign import EXPERIMENTS, REPRODUCTION, Result, run_cell
from .page import held, page
from .raw import cells, read
from .wrapper_tables import reproduced

TINY = "from tests.evidence.test_experiments import tiny; print(tiny(), end='')"


@pytest.fixture(scope="module")
def everything() -> list[Result]:
    """Every cell of every experiment, with one seed."""
    known = (*EXPERIMENTS, REPRODUCTION)
    return [run_cell(one, cell, [3]) for one in known for cell in one.cells()]


def tiny() -> str:
    """The raw results of every fiftieth cell."""
    chosen = [(one, cell) for one in EXPERIMENTS for cell in one.cells()][::50]
    return cells([run_cell(one, cell, range(2)) for one, cell in chosen])


def test_the_same_seeds_give_the_same_bytes_in_another_process():
    env = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", TINY]
    printed = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert printed.stdout == tiny()


@pytest.mark.parametrize("arm", ["blind retry", "published"])
def test_baseline_and_wrapper_come_to_what_was_published_of_them(arm):
    reading = "independent"
    chosen = [one for one in wrapper.published_cells() if (one.reading, one.arm) == (reading, arm)]
    results = [run_cell(REPRODUCTION, one, range(1000)) for one in chosen]
    assert reproduced(results, reading, arm)


def test_surestep_repeats_nothing_and_says_nothing_false_where_the_hypotheses_hold(everything):
    chosen = held(everything)
    assert len(chosen) > 300
    for one in chosen:
        wrong = ("duplicate", "false_confirmed", "false_not_found", "unanswered")
        assert not any(one.flags[flag] for flag in wrong), one.cell


def test_each_broken_hypothesis_shows(everything):
    """Otherwise the cells that hold would prove little."""
    shown = {
        one.broken.partition(":")[0]
        for one in everything
        if one.broken and (one.flags["duplicate"] or one.flags["false_not_found"])
    }
    assert {"H2", "H3", "H5", "H6"} <= shown


def test_the_page_is_filled_in(everything):
    twin, crashed = (read(ROOT / "evidence" / name) for name in ("twin.json", "e3.json"))
    text = page(everything, twin, crashed)
    assert "{{" not in text
    assert "## Chaos" in text
