"""Ada, Bob and the others: their keys, what they may, and a decision for them to sign."""

from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from surestep.authority import Authority
from surestep.contract import Effect
from surestep.decision import Decision, Verdict
from surestep.questions import ExamineOrder
from surestep.signature import public_text, sign

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ACTION = "refund/order-7781/refund"
HASH = "v1:abc"


def key_of(name: str) -> Ed25519PrivateKey:
    """The same in every run, so that a failure can be repeated."""
    return Ed25519PrivateKey.from_private_bytes(name.encode().ljust(32, b"."))


def public(name: str) -> str:
    return public_text(key_of(name).public_key())


def authority(*names: str, **fields: Any) -> Authority:
    """An authority of these people, each of whom may everything; or of those under `people`."""
    people = {name: {"keys": [public(name)]} for name in names}
    return Authority.model_validate({"people": people, **fields})


def decision(verdict: Verdict | str = Verdict.RETRY, **fields: Any) -> Decision:
    made = {"id": "d-1", "version": 3, "made_at": NOW - timedelta(minutes=5)}
    return Decision.model_validate({"verdict": verdict, **made, **fields})


def signed(
    name: str, told: Decision | None = None, action: str = ACTION, arguments: str = HASH
) -> Decision:
    return sign(told or decision(), action_id=action, input_hash=arguments, key=key_of(name))


def order(given: Decision, **fields: Any) -> ExamineOrder:
    about = {
        "action_id": ACTION,
        "tool": "refund",
        "effect": Effect.IRREVERSIBLE,
        "input_hash": HASH,
        "requester": "",
        "now": "2026-11-30T12:00:00Z",
        "by_signal": False,
    }
    return ExamineOrder.model_validate({"decision": given, **about, **fields})
