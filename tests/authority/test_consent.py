"""Where nothing is sent without consent, a retry is one, and the requester gives none."""

from surestep.decision import Verdict

from .people import NOW, authority, decision, order, signed


def test_the_requester_consents_to_nothing_by_saying_retry() -> None:
    rules = authority("Ada", "Bob")
    retry = decision(verdict=Verdict.RETRY)
    own, other = order(signed("Ada", retry), requester="Ada"), order(signed("Bob", retry))
    consent = own.model_copy(update={"needs_approval": True})
    assert "may not retry it" in (rules.examine(consent, at=NOW, now=NOW).objection or "")
    assert rules.examine(own, at=NOW, now=NOW).objection is None
    assert rules.examine(other, at=NOW, now=NOW).objection is None
