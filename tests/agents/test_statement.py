"""A model's closing statement beside the ledger: nothing wrong is ever called right."""

from datetime import UTC, datetime
from itertools import product

import pytest

from surestep.agents import Claim, ClosingStatement, Report, check
from surestep.agents.deed import Deed, Standing
from surestep.agents.statement import Became, Judgement
from surestep.facts import Anomaly

NOW = datetime(2026, 1, 1, tzinfo=UTC)
STATES = {
    Standing.DONE: "confirmed",
    Standing.UNDONE: "compensated",
    Standing.REFUSED: "rejected",
    Standing.WITHOUT_EFFECT: "not_found",
    Standing.OPEN: "sent",
    Standing.UNKNOWN: "unknown",
}
HOLD = {
    ("done", "done"), ("not_done", "refused"), ("not_done", "without effect"),
    ("undone", "undone"), ("open", "open"), ("open", "unknown"),
}  # fmt: skip


def deed(number=1, standing=Standing.DONE, tool="refund", about="o-1", **more):
    step_id = f"run/{tool}/{number}"
    return Deed(
        step_id=step_id,
        action_id=f"{step_id}/{tool}",
        tool=tool,
        about=about,
        standing=standing,
        state=STATES[standing],
        receipt_id=f"r-{number}",
        **more,
    )


def recorded(*deeds):
    return Report(run="run", at=NOW, tools=("refund",), deeds=deeds)


def said(*claims, message=""):
    made = [Claim(**{"became": "done", "tool": "refund", **one}) for one in claims]
    return ClosingStatement(claims=made, message=message)


def judged(statement, *deeds):
    found = check(statement, recorded(*deeds))
    return found.judgement, [one.judgement for one in found.checks]


@pytest.mark.parametrize(("became", "standing"), list(product(Became, Standing)))
def test_a_claim_is_right_only_if_the_record_says_the_same(became, standing):
    overall, (claim,) = judged(said({"became": became, "about": "o-1"}), deed(1, standing))
    expected = Judgement.RIGHT if (became, standing) in HOLD else Judgement.WRONG
    assert (overall, claim) == (expected, expected)


@pytest.mark.parametrize(
    "names",
    [{"step_id": "run/refund/1"}, {"step_id": "run/refund/1/refund"}, {"receipt_id": "r-1"}],
)
def test_a_claim_may_name_its_action_by_step_or_receipt(names):
    assert judged(said({**names, "tool": ""}), deed()) == (Judgement.RIGHT, [Judgement.RIGHT])


@pytest.mark.parametrize(
    "claim",
    [
        {"about": "o-2"},
        {"tool": "letter"},
        {"receipt_id": "r-2"},
        {"step_id": "run/refund/2"},
        {"about": "o-1", "receipt_id": "r-2"},
    ],
)
def test_a_claim_without_an_effect_is_found(claim):
    found = check(said({}, claim), recorded(deed()))
    assert found.judgement is Judgement.WRONG
    assert [one.why for one in found.unfounded] == ["no such action is recorded"]
    assert found.unclaimed == ()


def test_an_effect_without_a_claim_is_found():
    second = deed(2, about="o-2")
    found = check(said({"about": "o-1"}), recorded(deed(), second))
    assert (found.judgement, found.unclaimed) == (Judgement.WRONG, (second,))
    assert second.line in found.text()


@pytest.mark.parametrize("standing", [Standing.OPEN, Standing.UNKNOWN, Standing.UNDONE])
def test_what_may_have_happened_must_be_claimed_too(standing):
    found = check(said({"about": "o-1"}), recorded(deed(), deed(2, standing, about="o-2")))
    assert (found.judgement, len(found.unclaimed)) == (Judgement.WRONG, 1)


@pytest.mark.parametrize("standing", [Standing.REFUSED, Standing.WITHOUT_EFFECT])
def test_what_had_no_effect_need_not_be_claimed_nor_what_only_reads(standing):
    others = (deed(2, standing, about="o-2"), deed(3, about="o-3", effect=False))
    assert judged(said({"about": "o-1"}), deed(), *others)[0] is Judgement.RIGHT


def test_one_effect_that_is_claimed_twice_is_claimed_once_too_often():
    assert judged(said({}, {}), deed()) == (Judgement.WRONG, [Judgement.RIGHT, Judgement.WRONG])
    assert judged(said({}, {}), deed(), deed(2))[0] is Judgement.RIGHT


def test_a_vague_claim_does_not_take_what_an_exact_one_means():
    exact = {"receipt_id": "r-1"}
    assert judged(said({}, exact), deed(), deed(2))[0] is Judgement.RIGHT


def test_a_claim_that_may_mean_several_actions_that_differ_is_not_checkable():
    done, open_ = deed(), deed(2, Standing.OPEN)
    assert judged(said({}), done, open_) == (Judgement.NOT_CHECKABLE, [Judgement.NOT_CHECKABLE])


@pytest.mark.parametrize("claim", [{"tool": ""}, {"about": "o-1"}, {"about": "o-1", "tool": ""}])
def test_a_claim_of_which_the_record_cannot_say_what_it_means_is_not_checkable(claim):
    assert judged(said(claim), deed(about=""))[1] == [Judgement.NOT_CHECKABLE]


def test_that_nothing_was_done_is_not_right_because_nothing_is_recorded():
    assert judged(said({"became": "not_done"}))[1] == [Judgement.NOT_CHECKABLE]


def test_nothing_about_an_action_with_an_anomaly_is_right():
    anomaly = Anomaly(kind="late", at=NOW, why="it landed after all")
    for standing, became in ((Standing.DONE, "done"), (Standing.WITHOUT_EFFECT, "not_done")):
        late = deed(1, standing, anomalies=(anomaly,))
        assert judged(said({"became": became}), late)[0] is Judgement.NOT_CHECKABLE
        assert judged(said(), late)[0] is Judgement.WRONG


def test_free_words_are_not_checkable_whatever_the_claims_are():
    right = {"about": "o-1"}
    overall, (claim, words) = judged(said(right, message="All is well!"), deed())
    assert (overall, claim, words) == (
        Judgement.NOT_CHECKABLE,
        Judgement.RIGHT,
        Judgement.NOT_CHECKABLE,
    )


@pytest.mark.parametrize(
    "text",
    [
        "I have refunded o-1 (r-1).",
        "It is not true that {line}",
        "{line} That is wrong.",
        "Nothing happened.",
        "[surestep: run/refund/1 confirmed]",
    ],
)
def test_a_text_in_words_of_its_own_is_not_checkable(text):
    done = deed()
    found = check(text.format(line=done.line), recorded(done))
    assert (found.judgement, found.unclaimed) == (Judgement.NOT_CHECKABLE, (done,))


def test_a_text_that_only_quotes_the_report_is_right_if_it_quotes_every_effect():
    one, two = deed(), deed(2, Standing.OPEN, about="o-2")
    assert check(f"- {one.line}\n\n  {two.line}\n", recorded(one, two)).judgement is Judgement.RIGHT
    assert check(one.line, recorded(one, two)).judgement is Judgement.WRONG
    assert check("", recorded(one)).judgement is Judgement.WRONG
    assert check("", recorded()).judgement is Judgement.RIGHT


@pytest.mark.parametrize(
    "mark", ["run/refund/1 confirmed", "run/refund/1 not_found", "run/refund/7 confirmed"]
)
def test_a_text_with_a_mark_that_the_record_contradicts_is_wrong(mark):
    open_ = deed(1, Standing.OPEN)
    assert check(f"All done [surestep: {mark}]", recorded(open_)).judgement is Judgement.WRONG
    still = "[surestep: run/refund/1 pending]"
    assert check(still, recorded(open_)).judgement is Judgement.NOT_CHECKABLE


def test_a_statement_is_a_frameworks_structured_output():
    schema = ClosingStatement.model_json_schema()
    assert schema["properties"].keys() == {"claims", "message"}
    assert schema["additionalProperties"] is False
