"""A short run of chaos; `make chaos` runs longer ones."""

import json
from dataclasses import replace

import pytest

from surestep import State
from tests.chaos.judgement import Wrong, judge
from tests.chaos.plan import plan
from tests.chaos.report import last_line, story, table
from tests.chaos.run import run

SEED, MINUTES = 18, 0.5


@pytest.mark.timeout(300)
async def test_whatever_befalls_workers_and_server_it_happens_once_or_a_human_is_asked(tmp_path):
    planned = plan(SEED, MINUTES)
    ended = await run(planned, tmp_path)
    violations = judge(ended.cases, ended.struck)
    told = "\n\n".join(story(one, ended.struck) for one in violations)
    assert not violations, f"\n{told}\n{table(ended)}"
    sums = json.loads(last_line(ended, violations))
    assert sums["actions"] == sum(len(step.actions) for step in planned.steps)
    assert {one.planned for one in ended.struck if one.over} == set(planned.blows)
    assert min(sums[name] for name in ("kills", "freezes", "server_restarts", "asked")) > 0
    assert any(case.met for case in ended.cases)

    # The judge of this run sees what it looks for.
    done = next(case for case in ended.cases if case.state is State.CONFIRMED and not case.asked)
    twice = replace(done, effects=[*done.effects, *done.effects])
    missing = replace(done, effects=[])
    assert [one.wrong for one in judge([twice], ended.struck)] == [Wrong.DUPLICATE]
    assert [one.wrong for one in judge([missing], ended.struck)] == [Wrong.FALSE_STATE]
