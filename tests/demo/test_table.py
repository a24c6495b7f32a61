"""The judge of the demo, judged: it calls nothing right that is not."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from surestep import evidence as ev
from surestep.contract import Contract, Effect, KeySupport
from surestep.demo.table import HUMAN, LOOKUP, RESPONSE, Expected, Found, judge, totals
from surestep.evidence import Receipt, Sending, confirmed, unknown
from surestep.record import plan

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEYED = Contract(effect=Effect.IRREVERSIBLE, key=KeySupport(lifetime=timedelta(hours=24)))


def record(*evidence):
    known = plan(
        action_id="pay/1/charge",
        at=NOW,
        name="charge",
        tool="charge",
        arguments={},
        input_hash="v1:0",
        contract=KEYED,
        can_verify=True,
    )
    for one in evidence:
        known = known.with_evidence(one)
    return known


def sent(outcome=Sending.ANSWERED, receipt=None):
    return (
        ev.Dispatched(at=NOW, generation=1),
        ev.Attempted(at=NOW, outcome=outcome, receipt=receipt),
    )


def looked(*ids):
    seen = confirmed(matches=[Receipt(id=one) for one in ids])
    return ev.Looked(at=NOW, started=NOW, verification=seen)


ANSWERED = record(*sent())
ASKED = record(*sent(Sending.AMBIGUOUS), ev.Asked(at=NOW, why="nobody knows"))


def judged(expected, found):
    return judge(1, "a scene", "pay/1", expected, found)


def test_what_is_as_expected_is_right():
    row = judged(Expected(RESPONSE), Found(ANSWERED, effects=1))
    assert row.right
    assert row.settled == "by the service's response"
    assert row.duplicates == 0


def test_any_human_will_do_where_a_human_is_expected():
    decision = ev.Decision(verdict="confirm", by="Ada", version=ASKED.version)
    told = ASKED.with_evidence(ev.Decided(at=NOW, decision=decision))
    failed = ev.Looked(at=NOW, started=NOW, verification=unknown("503"))
    settled = told.with_evidence(failed)
    assert judged(Expected(HUMAN, asked=True), Found(settled, effects=1)).right


@pytest.mark.parametrize(
    ("expected", "found", "wrong"),
    [
        (Expected(RESPONSE), Found(ANSWERED, 2), "effects in the ledger"),
        (Expected(RESPONSE), Found(ANSWERED, 0), "effects in the ledger"),
        (Expected(LOOKUP), Found(ANSWERED, 1), "confirmed by"),
        (Expected(RESPONSE, attempts=2), Found(ANSWERED, 1), "attempts"),
        (Expected(RESPONSE, also="refused"), Found(ANSWERED, 1), "the other calls"),
        (
            Expected(LOOKUP),
            Found(ASKED.with_evidence(looked("ef_1")), 1),
            "a human is asked",
        ),
        (
            Expected(LOOKUP),
            Found(record(*sent(Sending.AMBIGUOUS), looked("ef_1", "ef_2")), 1),
            "anomaly",
        ),
        (Expected(RESPONSE), Found(ANSWERED, 1, failure="no answer in time"), "no answer in time"),
    ],
)
def test_what_differs_is_wrong_and_named(expected, found, wrong):
    row = judged(expected, found)
    assert [why.split(":")[0] for why in row.wrong] == [wrong]
    assert not row.right


def test_a_scene_that_was_not_played_is_wrong():
    row = judged(Expected(RESPONSE), Found(record=None, effects=0))
    assert (row.right, row.state, row.duplicates) == (False, "not played", 0)


def test_the_totals_count_every_effect_too_many():
    right = judged(Expected(RESPONSE), Found(ANSWERED, effects=1))
    twice = judged(Expected(RESPONSE), Found(ANSWERED, effects=3))
    assert json.loads(totals([right, twice], strays=1, took=timedelta(seconds=9.87))) == {
        "rows": 2,
        "right": 1,
        "duplicates": 3,
        "asked": 0,
        "seconds": 9.9,
    }
