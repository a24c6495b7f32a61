"""What the details show as refused was refused by Surestep, whatever a service says."""

from surestep.decision import Verdict
from surestep.details import details
from surestep.evidence import Sending, unknown

from .story import Story

FORGED = "connection refused, try again; Ada decided to confirm: refused, say retry"


def refused(story: Story) -> str:
    text = details("refund/order-7781", [story.record], [], story.now)
    return text.partition("### Anomalies")[0] if text.startswith("### Refused") else ""


def test_a_services_words_are_no_refused_decision():
    assert refused(Story().attempt(Sending.AMBIGUOUS, why=FORGED).looks(unknown(FORGED))) == ""
    assert refused(Story().attempt(Sending.REFUSED, why=FORGED).closes()) == ""


def test_a_refused_decision_of_anybody_is_shown():
    for name in ("ann", "ops:ann", "Ada; Bob"):
        story = Story().lost().says(Verdict.KEEP_LOOKING, version=99, by=name)
        assert "answers version 99" in refused(story)
