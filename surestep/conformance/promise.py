"""The promises that are checked, and those that nobody can check from outside."""

from datetime import timedelta
from enum import StrEnum
from typing import Final

from surestep.contract import FOREVER, Contract


class Promise(StrEnum):
    """One row of the report. The value is its name in JSON and for `skip`; it never changes."""

    PROOF = "response_proves"
    SAME = "same_effect"
    SIGHT = "sight"
    LAG = "visibility_lag"
    STRANGERS = "strangers"
    KEY = "key"
    AT_ONCE = "key_at_once"
    CONTENT = "key_content"
    REFUSAL = "refusal"
    FENCE = "fence"
    FENCE_EXISTING = "fence_existing"
    UNDO = "compensate"
    UNDO_LOOKUP = "verify_compensation"
    REPEATABLE = "repeatable"
    ONE_SEND = "one_send"
    LIFETIME = "key_lifetime"
    IN_FLIGHT = "in_flight"
    REDELIVERY = "redelivery"


_SENTENCES: Final[dict[Promise, str]] = {
    Promise.PROOF: "a success answer proves the effect",
    Promise.SAME: "verify finds what the receipt named",
    Promise.SIGHT: "the lookup can see",
    Promise.STRANGERS: "a key never used is not found",
    Promise.KEY: "one key sent twice is one effect",
    Promise.AT_ONCE: "one key sent twice at once is one effect",
    Promise.CONTENT: "other arguments under a used key are refused",
    Promise.REFUSAL: "a refusal is not called a success",
    Promise.FENCE: "a fenced key is refused",
    Promise.FENCE_EXISTING: "a fence names the effect that exists",
    Promise.UNDO: "compensate undoes the effect",
    Promise.UNDO_LOOKUP: "its lookup can tell what is undone",
    Promise.REPEATABLE: "every send of a key is the same, byte for byte",
    Promise.ONE_SEND: "execute sends once, whatever the answer",
    Promise.REDELIVERY: "a request is delivered once at the most",
}


def sentence(promise: Promise, contract: Contract) -> str:
    """The promise in words, with the contract's figures where it has some."""
    key, lag, in_flight = contract.key, contract.visibility_lag, contract.in_flight
    if promise is Promise.PROOF and not contract.response_proves:
        return "what is accepted is carried out"
    if promise is Promise.LAG:
        return "how soon an effect is seen" if lag is None else f"an effect is seen {within(lag)}"
    if promise is Promise.LIFETIME:
        if key is None:
            return "how long the key is honoured"
        return f"the key is honoured for {span(key.lifetime)}"
    if promise is Promise.IN_FLIGHT:
        if in_flight is None:
            return "how late a request can commit"
        return f"nothing commits later than {span(in_flight)} after it was sent"
    return _SENTENCES[promise]


def within(promised: timedelta) -> str:
    return f"within {span(promised)}" if promised else "at once"


def after(seconds: float) -> str:
    return f"after {span(seconds)}" if seconds >= 0.005 else "at once"


def span(time: timedelta | float) -> str:
    """A duration as a person says it: `0.31 s`, `90 s`, `24 h`; `ever` for one without end."""
    if time == FOREVER:
        return "ever"
    seconds = time.total_seconds() if isinstance(time, timedelta) else time
    if seconds < 10:
        return f"{seconds:.2f}".rstrip("0").rstrip(".") + " s"
    if seconds < 600:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
