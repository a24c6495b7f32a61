"""Whose decision counts: a table of sentences, and what follows from more than one person."""

from base64 import b64encode
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from surestep.authority import Authority
from surestep.decision import Decision, Verdict
from surestep.questions import Examined
from surestep.signature import statement

from .people import HASH, NOW, authority, decision, key_of, order, public, signed


def examined(rules: Authority, given: Decision, at: datetime = NOW, **about: Any) -> Examined:
    return rules.examine(order(given, **about), at=at, now=NOW)


def changed(told: Decision, **fields: Any) -> Decision:
    return told.model_copy(update=fields)


EVERYBODY = authority("Ada", "Bob")


def test_a_decision_of_somebody_who_may_is_taken_with_a_proven_name() -> None:
    answer = examined(EVERYBODY, signed("Ada", decision(by="the cfo")))
    assert answer == Examined(at=NOW, now=NOW, by="Ada")


REFUSED: dict[str, tuple[Callable[[], Decision], str | None, str]] = {
    "unsigned": (
        lambda: decision(by="Ada", action="refund", input_hash=HASH),
        None,
        "it is not signed, and only signed decisions count here",
    ),
    "signature left out": (
        lambda: changed(signed("Ada"), signature=None),
        None,
        "it is not signed",
    ),
    "key left out": (lambda: changed(signed("Ada"), key=None), None, "it is not signed"),
    "forged by somebody without her key": (
        lambda: changed(signed("Eve"), key=signed("Ada").key),
        None,
        "it is forged or was changed: Ada's signature does not fit",
    ),
    "changed on the way": (
        lambda: changed(signed("Ada"), verdict=Verdict.CONFIRM),
        None,
        "it is forged or was changed",
    ),
    "moved to another action": (
        lambda: changed(signed("Ada", action="refund/order-1/refund"), action=signed("Ada").action),
        None,
        "it is forged or was changed",
    ),
    "an unknown key": (lambda: signed("Eve"), None, "nobody here has the key"),
    "another action": (
        lambda: signed("Ada", action="refund/order-1/refund"),
        "Ada",
        "it is signed for the action refund/order-1/refund, not for refund/order-7781/refund",
    ),
    "other arguments": (
        lambda: signed("Ada", arguments="v1:other"),
        "Ada",
        "it is signed for other arguments than the action has",
    ),
    "an hour old": (
        lambda: signed("Ada", decision(made_at=NOW - timedelta(hours=1, seconds=1))),
        "Ada",
        "it is too old: made at 2026-03-01 10:59:59 UTC and received at 2026-03-01 12:00:00 UTC",
    ),
    "from the future": (
        lambda: signed("Ada", decision(made_at=NOW + timedelta(seconds=61))),
        "Ada",
        "it was made in the future, at 2026-03-01 12:01:01 UTC: set the signer's clock right",
    ),
    "at the beginning of time": (
        lambda: signed("Ada", decision(made_at="0001-01-01T00:00:00Z")),
        "Ada",
        "it is too old",
    ),
    "at the end of time": (
        lambda: signed("Ada", decision(made_at="9999-12-31T23:59:59Z")),
        "Ada",
        "it was made in the future",
    ),
    "expired": (
        lambda: signed("Ada", decision(expires=NOW)),
        "Ada",
        "it expired at 2026-03-01 12:00:00 UTC and was received at 2026-03-01 12:00:00 UTC",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_wrong_with_a_decision_is_said_in_one_sentence(kind: str) -> None:
    made, by, sentence = REFUSED[kind]
    answer = examined(EVERYBODY, made())
    assert (answer.by, answer.needs_another) == (by, False)
    assert answer.objection
    assert answer.objection.startswith(sentence)
    assert "\n" not in answer.objection
    assert len(answer.objection) <= 180, "the record would cut it off"


@pytest.mark.parametrize("field", ["id", "version", "made_at"])
def test_a_signature_over_too_little_says_what_is_missing(field: str) -> None:
    """Somebody who signs with a program of their own can forget it."""
    bare = changed(signed("Ada"), **{field: None})
    raw = key_of("Ada").sign(statement(bare))
    answer = examined(EVERYBODY, changed(bare, signature=b64encode(raw).decode()))
    assert answer.objection == f"it does not say its {field}: add that and sign anew"


def test_a_decision_in_time_is_judged_by_when_it_was_received() -> None:
    told = signed("Ada", decision(expires=NOW))
    assert examined(EVERYBODY, told, at=NOW - timedelta(seconds=1)).objection is None
    assert examined(EVERYBODY, signed("Ada"), at=NOW + timedelta(days=1)).objection


@pytest.mark.parametrize("ahead", [timedelta(0), timedelta(seconds=60)])
def test_a_clock_that_is_a_minute_ahead_is_forgiven(ahead: timedelta) -> None:
    assert examined(EVERYBODY, signed("Ada", decision(made_at=NOW + ahead))).objection is None


def test_the_longest_age_can_be_set() -> None:
    old = signed("Ada", decision(made_at=NOW - timedelta(hours=30)))
    assert examined(authority("Ada", longest_age=48 * 3600), old).objection is None
    assert examined(authority("Ada", longest_age=60), signed("Ada")).objection


def test_each_of_a_persons_keys_counts_as_that_person() -> None:
    keys = {"Ada": {"keys": [public("Ada"), public("Ada's new one")]}}
    rules = authority(people=keys)
    for name in ("Ada", "Ada's new one"):
        assert examined(rules, signed(name)).by == "Ada"


LIMITED = authority(
    people={
        "Ada": {"keys": [public("Ada")]},
        "Bob": {
            "keys": [public("Bob")],
            "may": [
                {"verdicts": ["confirm", "abandon"]},
                {"verdicts": ["retry"], "tools": ["mail"]},
                {"verdicts": ["retry"], "effects": ["reversible"]},
            ],
        },
        "Carl": {"keys": [public("Carl")], "may": []},
    }
)


@pytest.mark.parametrize(
    ("verdict", "tool", "effect", "may"),
    [
        ("confirm", "refund", "irreversible", True),
        ("abandon", "refund", "irreversible", True),
        ("retry", "refund", "irreversible", False),
        ("retry", "mail", "irreversible", True),
        ("retry", "refund", "reversible", True),
        ("approve", "mail", "reversible", False),
    ],
)
def test_people_may_only_what_the_file_says(
    verdict: str, tool: str, effect: str, may: bool
) -> None:
    told = decision(verdict)
    about = {"tool": tool, "effect": effect}
    assert examined(LIMITED, signed("Ada", told), **about).objection is None
    assert (examined(LIMITED, signed("Bob", told), **about).objection is None) is may
    assert examined(LIMITED, signed("Carl", told), **about).objection


def test_who_may_not_is_told_whom_to_ask() -> None:
    answer = examined(LIMITED, signed("Bob"))
    assert answer.by == "Bob"
    assert answer.objection == "Bob may not retry refund (irreversible): ask Ada"
    alone = authority(people={"Carl": {"keys": [public("Carl")], "may": []}})
    answer = examined(alone, signed("Carl"))
    assert answer.objection == "Carl may not retry refund (irreversible): nobody may"


@pytest.mark.parametrize("requester", ["Ada", " ada ", "ADA", "ada@example.com"])
def test_nobody_approves_what_they_have_requested(requester: str) -> None:
    ada = {"keys": [public("Ada")], "known_as": ["Ada@example.com"]}
    people = {"Ada": ada, "Bob": {"keys": [public("Bob")]}}
    rules = authority(people=people)
    own, other = signed("Ada", decision("approve")), signed("Bob", decision("approve"))
    answer = examined(rules, own, requester=requester)
    assert answer.objection == "Ada has requested it and may not approve it: ask somebody else"
    assert examined(rules, other, requester=requester).objection is None
    assert examined(rules, own, requester="").objection is None
    assert examined(rules, own, requester="Ada Lovelace").objection is None
    refusal = signed("Ada", decision("refuse"))
    assert examined(rules, refusal, requester=requester).objection is None
    lenient = authority(people=people, requester_may_approve=True)
    assert examined(lenient, own, requester=requester).objection is None


PAIRS = authority("Ada", "Bob", two_people=[{"tools": ["refund"]}])


def test_of_two_people_the_first_is_not_enough_and_the_second_is() -> None:
    first = examined(PAIRS, signed("Ada"))
    assert (first.needs_another, first.objection, first.by) == (True, None, "Ada")
    second = examined(PAIRS, signed("Bob"), agreed=("Ada",))
    assert (second.needs_another, second.objection, second.by) == (False, None, "Bob")


def test_the_same_person_is_not_two_people_even_with_two_keys() -> None:
    people = {
        "Ada": {"keys": [public("Ada"), public("Ada's new one")]},
        "Bob": {"keys": [public("Bob")]},
    }
    rules = authority(people=people, two_people=[{}])
    answer = examined(rules, signed("Ada's new one"), agreed=("Ada",))
    assert answer.objection == "Ada has said so already: a second person must say the same"
    assert not answer.needs_another


@pytest.mark.parametrize("agreed", [("Eve",), ("somebody who gave no name",), ("Carl",)])
def test_only_those_who_may_count_as_the_first_of_two(agreed: tuple[str, ...]) -> None:
    people = {name: {"keys": [public(name)]} for name in ("Ada", "Bob")}
    people["Carl"] = {"keys": [public("Carl")], "may": []}  # type: ignore[dict-item]
    rules = authority(people=people, two_people=[{}])
    assert examined(rules, signed("Bob"), agreed=agreed).needs_another


def test_the_requester_is_not_one_of_the_two_who_approve() -> None:
    told = signed("Bob", decision("approve"))
    assert examined(PAIRS, told, agreed=("Ada",), requester="Ada").needs_another


@pytest.mark.parametrize(
    ("verdict", "needed"),
    [
        ("approve", 2),
        ("retry", 2),
        ("confirm", 2),
        ("undo", 2),
        ("leave_unknown", 2),
        ("refuse", 1),
        ("abandon", 1),
        ("keep_looking", 1),
    ],
)
def test_one_person_is_enough_to_stop_and_to_wait(verdict: str, needed: int) -> None:
    until = {"until": NOW + timedelta(days=1)} if verdict == "keep_looking" else {}
    told = signed("Ada", decision(verdict, **until))
    assert examined(PAIRS, told).needs_another is (needed == 2)
    assert not examined(PAIRS, told, tool="mail").needs_another
    strict = authority("Ada", "Bob", two_people=[{"verdicts": [verdict]}])
    assert examined(strict, told).needs_another


def test_an_agreement_that_is_refused_for_another_reason_needs_nobody_else() -> None:
    old = signed("Ada", decision(expires=NOW))
    answer = examined(PAIRS, old)
    assert answer.objection
    assert not answer.needs_another
