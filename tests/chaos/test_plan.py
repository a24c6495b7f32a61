"""The plan is the seed's, whole, and breaks no promise."""

import os
import subprocess
import sys
from itertools import pairwise

from surestep.testing.faults import LOOKUP_FAULTS, WRITE_FAULTS, Commit, write_fault
from tests.chaos.kinds import KINDS
from tests.chaos.plan import Blow, plan
from tests.matrix.tools import Style
from tests.steps.processes import ROOT

LONG = plan(seed=1, minutes=10)
ACTIONS = [action for step in LONG.steps for action in step.actions]


def test_the_same_seed_gives_the_same_plan_in_another_process():
    command = [sys.executable, "-m", "tests.chaos", "--plan", "--seed", "7", "--minutes", "1"]
    env = os.environ | {"PYTHONHASHSEED": "7"}
    printed = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert printed.stdout == f"{plan(seed=7, minutes=1)}\n"


def test_another_seed_gives_another_plan():
    assert str(plan(seed=7, minutes=1)) != str(plan(seed=8, minutes=1))


def test_ten_minutes_meet_every_fault_that_breaks_no_promise():
    writes = {text.partition(":")[0] for action in ACTIONS for text in action.writes}
    looks = {text.partition(":")[0] for action in ACTIONS for text in action.looks}
    assert set(WRITE_FAULTS) - writes == {"honest", "twice", "other_content"}
    assert set(LOOKUP_FAULTS) - looks == set()
    assert {blow.blow for blow in LONG.blows} == set(Blow)
    assert {(one.kind, one.style) for one in ACTIONS} == {(k, s) for k in KINDS for s in Style}
    assert {len(step.actions) for step in LONG.steps} == {1, 2, 3}
    assert {step.mode for step in LONG.steps} == {"sequential", "parallel"}


def test_no_plan_breaks_what_a_contract_promises():
    for action in ACTIONS:
        commits = {write_fault(text).fault.commit for text in action.writes}
        assert not commits & {Commit.TWICE, Commit.CHANGED}
        if action.kind.keyed:
            assert Commit.IGNORING_KEY not in commits
        if action.kind.promised:
            assert "miss" not in action.looks
            assert action.lands <= action.kind.contract.in_flight.total_seconds()


def test_everybody_is_hit_in_ten_minutes_and_nobody_twice_at_a_time():
    for worker in range(LONG.workers):
        mine = [blow for blow in LONG.blows if blow.worker == worker]
        assert len(mine) > 20
        assert all(one.at + one.lasts < two.at for one, two in pairwise(mine))
