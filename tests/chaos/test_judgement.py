"""The judge is judged: a wrong ledger is seen, and a question that was needless."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from surestep import Outcome, State
from surestep.facts import Line
from surestep.testing.ledger import EffectRow, RequestRow
from tests.chaos.case import ASKED, Case
from tests.chaos.fleet import Struck
from tests.chaos.judgement import Wrong, judge
from tests.chaos.plan import Blow, PlannedAction, PlannedBlow
from tests.chaos.report import Ended, last_line, story, table
from tests.matrix.tools import Style

T0 = datetime(2026, 1, 1, tzinfo=UTC)
KEY = "chaos/1/0/a1"
C, R, N, U = State.CONFIRMED, State.REJECTED, State.NOT_FOUND, State.UNKNOWN


def at(seconds):
    return T0 + timedelta(seconds=seconds)


def effect(seconds=1.0, number=1):
    return EffectRow(
        service="x", id=f"ef_{number}", key=KEY, body={}, status="succeeded", at=at(seconds)
    )


def request(seconds, method="POST", path="/x/effects", fault=None, content="c"):
    return RequestRow(
        method=method, path=path, key=KEY, sha256=content, body="", at=at(seconds), fault=fault
    )


def case(title="lookup", state=C, *, effects=(), requests=(), asked=None, doubts=0, **more):
    lines = [Line(at=at(1), text=f"attempt {n} is ambiguous: lost") for n in range(1, doubts + 1)]
    lines += [Line(at=at(asked), text=f"{ASKED}: why")] if asked is not None else []
    outcome = Outcome(
        action_id=KEY, name="a1", tool="x", state=state, why="", evidence=tuple(lines)
    )
    planned = PlannedAction("a1", title, Style.NAIVE, (), ())
    return Case(KEY, planned, T0, outcome, state is not U, effects, requests, **more)


def struck(since, over, blow=Blow.KILL):
    return Struck(PlannedBlow(0, blow, 0, 0), at(since), at(over))


def found(*cases, blows=()):
    return [one.wrong for one in judge(cases, blows)]


RIGHT = case(effects=[effect()], requests=[request(1)])


@pytest.mark.parametrize(
    ("wrong", "counted"),
    [
        (replace(RIGHT, effects=[effect(), effect(number=2)]), Wrong.DUPLICATE),
        (replace(RIGHT, effects=[]), Wrong.FALSE_STATE),
        (case(state=N, effects=[effect()]), Wrong.FALSE_STATE),
        (case(state=R, effects=[effect()]), Wrong.FALSE_STATE),
        (case(state=U, effects=[effect()]), Wrong.STUCK),
        (replace(RIGHT, outcome=None), Wrong.STUCK),
        (replace(RIGHT, alarm="its watch failed"), Wrong.FALSE_STATE),
        (replace(RIGHT, requests=[request(1), request(2, content="other")]), Wrong.RULE),
    ],
)
def test_a_wrong_ledger_is_reported_with_its_story_and_counted(wrong, counted):
    assert found(RIGHT) == []
    (violation,) = judge([wrong], [])
    assert violation.wrong is counted
    assert KEY in story(violation, [struck(0, 1)])
    ended = Ended(5, [wrong], [struck(0, 1)])
    if counted is not Wrong.RULE:
        assert f'"{counted}": 1' in last_line(ended, [violation])


def test_an_action_that_overtakes_the_one_before_it_is_reported():
    first = replace(RIGHT, effects=[effect(5)])
    second = replace(RIGHT, action_id="chaos/1/0/a2", before=KEY, requests=[request(4)])
    assert found(first, second) == [Wrong.RULE]
    assert found(first, replace(second, requests=[request(6)])) == []


FENCE = {"path": "/x/fences"}
LOOK = {"method": "GET"}
LOST = request(1, fault="never_arrives")
HEARD = request(1)


@pytest.mark.parametrize(
    "needless",
    [
        case("keyed, no lookup", requests=[LOST], doubts=1, asked=2),
        case("fenced", requests=[LOST, request(3, **FENCE)], asked=9),
        case("lookup", effects=[effect(1)], requests=[LOST, request(3, **LOOK)], asked=4),
        case("lookup, Δ λ", N, requests=[LOST, request(30, **LOOK)], asked=31),
        case("lookup, Δ λ", N, requests=[LOST], asked=40),
        case("blind", effects=[effect()], requests=[HEARD], asked=2),
    ],
    ids=["key", "fence", "hit", "miss", "nothing kept it from looking", "answer"],
)
def test_a_needless_question_is_reported(needless):
    assert Wrong.AVOIDABLE in found(needless)


@pytest.mark.parametrize(
    ("needed", "blows"),
    [
        (case("keyed, no lookup", N, requests=[LOST], doubts=6, asked=2), []),
        (case("keyed, no lookup", N, requests=[request(1, fault="accepted:1")], asked=20), []),
        (case("lookup", N, requests=[LOST, request(3, **LOOK)], asked=18), []),
        (case("lookup, Δ λ", N, requests=[LOST, request(30, fault="hang", **LOOK)], asked=40), []),
        (case("blind", N, requests=[LOST], asked=2), []),
        (case("blind", effects=[effect()], requests=[HEARD], asked=9), [struck(1, 3)]),
        (
            case("lookup", effects=[effect()], requests=[LOST, request(3, **LOOK)], asked=18),
            [struck(4, 6)],
        ),
    ],
    ids=["sends used up", "accepted", "no effect", "blinded", "lost", "killed", "look killed"],
)
def test_a_question_that_nobody_else_could_answer_is_right(needed, blows):
    assert found(needed, blows=blows) == []


def test_the_last_line_names_what_was_done_and_what_must_not_be():
    ended = Ended(5, [RIGHT, case("blind", effects=[effect()], asked=2)], [struck(0, 1)])
    assert last_line(ended, []) == (
        '{"actions": 2, "kills": 1, "freezes": 0, "server_restarts": 0, "duplicates": 0, '
        '"false_states": 0, "stuck": 0, "asked": 1, "asked_avoidable": 0, "seed": 5}'
    )
    assert "every action" in table(ended)
