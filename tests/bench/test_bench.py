"""What the benchmark rests on: that a wrong ledger fails it, and that its page is its results."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from . import histories, reasons
from .contender import ROOT
from .flow import flow
from .judgement import last_line, missed, wrong
from .page import page
from .rows import FLOOR, KEYED
from .size import TINY
from .spread import Spread, ratios
from .stage import verdict

RAW = ROOT / "evidence" / "bench.json"
PAGE = ROOT / "docs" / "performance.md"
ONE_AT_A_TIME = replace(TINY, flights=(1,))


async def test_every_row_of_the_flow_has_one_effect_for_each_action(tmp_path: Path) -> None:
    told = await flow(ONE_AT_A_TIME, tmp_path)
    assert told["wrong"] == []
    known = {one["row"]: one for one in told["histories"]}
    assert set(histories.LOOKS_FOR) <= known.keys()
    for row in (FLOOR, KEYED):  # a new event on the happy path needs its reason on the page
        assert sum(count for _, count, _, _ in reasons.told(known[row]["events"])) > 5
    last = last_line({"flow": told})
    assert last["floor_per_s"]["1"] > 0
    assert last["keyed_over_floor"]["1"] > 0


def test_an_effect_that_is_missing_or_there_twice_fails_the_run() -> None:
    counted = {"a/charge": 1, "b/charge": 2, "d/charge": 1}
    found = verdict("row", {"a/charge": 1, "b/charge": 1, "c/charge": 1}, counted)
    assert found == [
        "row: 0 effects of c/charge, not 1",
        "row: 1 effects of d/charge, not 0",
        "row: 2 effects of b/charge, not 1",
    ]
    assert wrong({"flow": {"wrong": found}}) == [f"flow: {one}" for one in found]


def test_a_part_that_did_not_end_fails_the_run_and_leaves_its_figures_open() -> None:
    results = {"parked": {"failed": "not within 240 s"}}
    assert wrong(results) == ["parked: it did not end: not within 240 s"]
    last = last_line(results)
    assert last["parked_10k_rss_mb"] == {"server": None, "worker": None}
    assert "cost_50k_over_1k: not measured" in missed(last)


def test_the_last_line_tells_the_worst_of_what_it_covers() -> None:
    def told(median: float) -> dict:
        return {"median": median, "low": median, "high": median, "n": 1}

    over = [
        {"flight": 1, "throughput": told(0.95), "cpu": told(1.05)},
        {"flight": 16, "throughput": told(0.89), "cpu": told(1.2)},
    ]
    last = last_line({"flow": {"over_floor": over}})
    assert last["keyed_over_floor"] == {"1": 0.95, "16": 0.89}
    assert last["cpu_over_floor"] == 1.2
    assert missed(last)[:2] == [
        "keyed_over_floor at 16 in flight: 0.89, and should be >= 0.9",
        "cpu_over_floor: 1.2, and should be <= 1.1",
    ]


def test_a_spread_is_the_median_with_its_quartiles() -> None:
    assert Spread.of([3.0]) == Spread(3.0, 3.0, 3.0, 1)
    assert Spread.of([1.0, 2.0, 3.0, 4.0, 5.0]) == Spread(3.0, 2.0, 4.0, 5)
    assert ratios([2.0, 9.0], [1.0, 3.0]) == [2.0, 3.0]


@pytest.mark.skipif(not RAW.exists(), reason="nothing is measured yet: make bench")
def test_the_page_says_what_the_raw_results_say() -> None:
    """After a change of the template: `python -m tests.bench --again`."""
    assert page(json.loads(RAW.read_text(encoding="utf-8"))) == PAGE.read_text(encoding="utf-8")
