"""The examples, run as their reader runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def printed(temporal_address, step_id):
    """What an example prints, line by line in words; it has a task queue of its own."""

    def run(name: str) -> list[list[str]]:
        env = {**os.environ, "TEMPORAL_ADDRESS": temporal_address, "SURESTEP_TASK_QUEUE": step_id}
        command = [sys.executable, EXAMPLES / name]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        return [line.split() for line in done.stdout.splitlines()]

    return run


def test_the_items_of_a_batch_are_settled_one_by_one(printed):
    rows = [(name, state, count) for name, state, count, *_ in printed("batch.py")]
    assert rows == [
        ("invoice-ada", "confirmed", "1"),
        ("invoice-bob", "confirmed", "1"),
        ("invoice-cleo", "confirmed", "1"),
        ("invoice-dan", "rejected", "0"),
        ("invoice-eve", "confirmed", "1"),
    ]


def test_a_lost_prepare_is_repeated_and_a_lost_commit_is_not(printed):
    rows = {key: rest for key, *rest in printed("prepare_and_commit.py")}
    assert rows["pay/o-7/prepare"] == ["confirmed", "0", "effects", "GET", "GET", "GET"]
    # Looked up first, for the service ignores our key; sent once; its lost answer looked up.
    assert rows["pay/o-7/commit"] == ["confirmed", "1", "effects", "GET", "POST", "GET"]
    assert rows["pay/o-7b/prepare"][0] == "rejected"
    assert rows["pay/o-7b/commit"] == ["not_found", "0", "effects"]


@pytest.mark.parametrize("framework", ["langgraph", "pydantic_ai"])
def test_a_support_agent_with_surestep_refunds_once_and_then_writes_once(printed, framework):
    lines = [" ".join(words) for words in printed(f"support_agent_{framework}.py")]
    refund, mail = "refund 7781 2500", "mail ada Your 25.00 are on their way."
    said = "Surestep: Refunded, and told."
    assert lines == [f"without {said}", *[refund] * 2, *[mail] * 2, f"with {said}", refund, mail]
