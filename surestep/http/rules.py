"""Rules: what one service means by a status, or by a status with a code."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from surestep.errors import ContractError
from surestep.evidence import Sending
from surestep.http.proof import of_status


@dataclass(frozen=True)
class Rule:
    """A line of a service's own table; it goes before the general one.

    status  the HTTP status
    means   REFUSED_FOR_NOW: nothing applied, try again; REFUSED: nothing applied, do not;
            ANSWERED: our own effect; ACCEPTED: taken for later; AMBIGUOUS: look
    code    only with this code in the body; without one the rule is for every other body
    why     what a person should know, put into the error's words
    """

    status: int
    means: Sending
    code: str | None = None
    why: str = ""

    def __post_init__(self) -> None:
        if self.means is Sending.NOT_SENT:
            raise ContractError(
                f"a service that answers {self.status} has received the request: say "
                "REFUSED_FOR_NOW where it applied nothing"
            )


def classify(status: int, codes: Iterable[str], rules: Iterable[Rule]) -> tuple[Sending, str]:
    """What an answer proves, and the rule's reason: by code, by status, by the general table."""
    known, bare = set(codes), None
    for rule in rules:
        if rule.status != status:
            continue
        if rule.code in known:
            return rule.means, rule.why
        if rule.code is None and bare is None:
            bare = rule
    return (bare.means, bare.why) if bare else (of_status(status), "")


_MISSING: Final = ("key_missing", "idempotency_key_missing", "idempotency_key_is_missing")
_OTHER_CONTENT: Final = (
    "key_mismatch",
    "idempotency_error",
    "idempotency_key_is_already_used",
    "idempotency_key_mismatch",
    "idempotency_key_reused",
    "IdempotentParameterMismatch",
)
_IN_PROGRESS: Final = (
    "in_progress",
    "request_in_progress",
    "idempotency_in_progress",
    "idempotency_key_in_use",
    "a_request_is_outstanding_for_this_idempotency_key",
)

KEY_RULES: Final = (
    *(
        Rule(400, Sending.REFUSED, code, "the service did not see our key: check where it is put")
        for code in _MISSING
    ),
    # Something stands under our key already: no refusal can say that nothing of ours happened.
    *(
        Rule(status, Sending.AMBIGUOUS, code, "our key was used with other content")
        for status in (400, 409, 422)
        for code in _OTHER_CONTENT
    ),
)
"""The Idempotency-Key draft (draft-ietf-httpapi-idempotency-key-header-06), where a code says so:
a bare 409 is ambiguous, a bare 422 a refused content, because most services mean just that."""

IN_PROGRESS_RULES: Final = tuple(
    Rule(409, Sending.REFUSED_FOR_NOW, code, "an earlier attempt is still being worked on")
    for code in _IN_PROGRESS
)
"""Only for a service that honours our key: this attempt added nothing, and the same key may come
again until the earlier one is done. That one keeps its own doubt."""
