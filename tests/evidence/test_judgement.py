"""The judge sees what is planted in a ledger, and the interval is Wilson's."""

from datetime import timedelta

import pytest

from surestep.contract import Contract, Effect, KeySupport

from .arms import Said, Told
from .executor import Declared
from .human import knowing
from .interval import wilson
from .judgement import avoidable, judge
from .service import Fate, Reply, Row, Service

WHOLE, PART = True, False


def ledger(*parts: bool) -> Service:
    rows = [Row(f"e-{n}", "k", 0.0, 0.0, whole) for n, whole in enumerate(parts)]
    return Service(lambda _: Fate(), rows=rows)


@pytest.mark.parametrize(
    ("parts", "said", "letters"),
    [
        ([WHOLE], Said.DONE, "xs"),
        ([WHOLE], Said.FAILED, "xns"),
        ([WHOLE, WHOLE], Said.DONE, "do"),
        ([WHOLE, PART], Said.DONE, "do"),
        ([PART], Said.DONE, "pco"),
        ([PART], Said.FAILED, "pn"),
        ([], Said.DONE, "mco"),
        ([], Said.FAILED, "m"),
        ([WHOLE], Said.OPEN, "xws"),
    ],
)
def test_a_planted_ledger_is_judged_as_it_is(parts, said, letters):
    judged = judge([ledger(*parts)], [Told(said, 0.0)], 1.0)
    assert sorted(judged.letters) == sorted(letters)


def contract(**promised) -> Contract:
    return Contract(effect=Effect.IRREVERSIBLE, **promised)


KEYED = contract(key=KeySupport(lifetime=timedelta(days=1)))
PROMISED = contract(in_flight=timedelta(seconds=60), visibility_lag=timedelta(0))


@pytest.mark.parametrize(
    ("fate", "made", "asked", "can"),
    [
        (Fate(Reply.LOST), contract(), 31.0, True),  # a look shows it
        (Fate(Reply.LOST, (90.0,)), contract(), 31.0, False),
        (Fate(Reply.LOST, part=True), PROMISED, 1000.0, False),
        (Fate(Reply.LOST, ()), PROMISED, 60.0, False),  # too early to tell
        (Fate(Reply.LOST, ()), PROMISED, 100.0, True),
        (Fate(Reply.LOST, ()), KEYED, 31.0, True),  # the key allows another send
    ],
)
def test_a_question_is_avoidable_where_the_truth_could_be_known(fate, made, asked, can):
    service = Service(lambda _: fate, remembers=86_400.0 if made.key else None)
    service.send("k", 0.0)
    assert avoidable(service, Declared(made, True, knowing, 60.0), asked) is can


def test_the_interval_of_a_rare_event_leaves_room_above_it():
    assert wilson(0, 25) == pytest.approx((0.0, 0.1332), abs=1e-4)
    assert wilson(5, 25) == pytest.approx((0.0886, 0.3913), abs=1e-4)
    assert wilson(25, 25)[1] == pytest.approx(1.0)
