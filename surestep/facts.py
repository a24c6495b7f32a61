"""What is known about one action, and what follows from it without any rule."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from pydantic import AwareDatetime

from surestep.contract import Contract
from surestep.decision import Approval, Decision, Verdict
from surestep.evidence import Closed, Finding, Receipt, State, Verification
from surestep.identity import wire_key
from surestep.value import Value

RESPONSE = "the service's response"  # `confirmed_by`, where an attempt was answered
WORD_OF = "the word of"  # what `confirmed_by` starts with where only a human says so


class AnomalyKind(StrEnum):
    DUPLICATE = "duplicate"  # more than one effect of one action
    LATE = "late"  # an effect landed after the action had ended without one
    CONTRADICTED = "contradicted"  # a human's word and the evidence disagree


class Anomaly(Value):
    """Something that must reach a human although the action has ended."""

    kind: AnomalyKind
    at: AwareDatetime
    why: str


class Line(Value):
    """One piece of evidence in words; equal ones in a row are counted, not repeated."""

    at: AwareDatetime
    text: str
    count: int = 1
    until: AwareDatetime | None = None


class Doubt(Value):
    """Attempts that may have happened and that nothing has resolved.

    since   earliest possible send of the first; None: unknown
    latest  latest possible send of the last; it can lie ahead
    at      when the last of them came into doubt; looking begins there
    """

    since: AwareDatetime | None
    latest: AwareDatetime
    at: AwareDatetime
    attempts: int


class Looks(Value):
    """Lookups. `total` is of the action's life, the rest since its last attempt."""

    total: int = 0
    count: int = 0
    misses: int = 0  # conclusive ones, with no other finding in between
    failures: int = 0  # in a row
    started: AwareDatetime | None = None
    at: AwareDatetime | None = None
    finding: Finding | None = None
    why: str = ""


class UndoPlan(Value):
    """How an action would be undone, as it was when the action was planned."""

    tool: str
    contract: Contract
    can_verify: bool


class Agreement(Value):
    """One person's word, of the version that they saw, where two must say the same."""

    verdict: Verdict
    by: str
    version: int
    receipt_id: str | None = None
    until: AwareDatetime | None = None
    accept_duplicate: bool = False

    def is_of(self, decision: Decision, version: int) -> bool:
        """Whether the decision says the same of the same version."""
        return self == Agreement.of(decision, self.by, version)

    @classmethod
    def of(cls, decision: Decision, by: str, version: int) -> "Agreement":
        return cls(
            verdict=decision.verdict,
            by=by,
            version=version,
            receipt_id=decision.receipt_id,
            until=decision.until,
            accept_duplicate=decision.accept_duplicate,
        )


class Facts(Value):
    """Everything that a record knows; `surestep.record.Record` adds how it learns.

    version      grows with every change that a human should have seen before deciding
    attempts     dispatched; `spent` of them may have left
    key_since    earliest possible first use of the present key; key_dead: may be forgotten
    doubt        what may have happened, unresolved (R5)
    absent       proven: nothing happened, and nothing will, by any attempt so far (R6)
    inherited    an earlier run, of which nothing else is known, may have sent
    trace        something of the effect was seen that is no confirmation (R8)
    stop         why nothing more may be sent
    personal     where personal values stand in the arguments, as `customer/email`
    subject      the confirmed effect that this action undoes
    before       what a look right before the first send saw
    hinted       when something that does not count was a reason to look
    told         the targets through which people have been told of the open question
    overdue      since when the open question has stood for too long
    patient_until  a human said to keep looking, and is not asked before
    agreed       decisions that one more person must agree to
    left         a human said that nobody will ever know
    undo_asked   who wants the confirmed effect undone; it must begin before `undo_until`
    begin_by     from when on an undo that was never sent is not begun any more
    """

    action_id: str
    name: str
    tool: str
    arguments: dict[str, Any]
    input_hash: str
    contract: Contract
    can_verify: bool
    can_fence: bool = False
    needs_approval: bool = False
    planned_at: AwareDatetime
    undo: UndoPlan | None = None
    recognised: str = ""
    personal: tuple[str, ...] = ()
    subject: Receipt | None = None

    version: int = 1
    generation: int = 1
    attempts: int = 0
    spent: int = 0
    setbacks: int = 0  # definite failures in a row
    in_flight: AwareDatetime | None = None
    ended: AwareDatetime | None = None
    not_before: AwareDatetime | None = None
    key_since: AwareDatetime | None = None
    key_dead: bool = False
    fenced: bool = False
    fence_failures: int = 0
    fence_tried: AwareDatetime | None = None
    doubt: Doubt | None = None
    absent: bool = False
    inherited: bool = False
    accepted: Receipt | None = None
    accepted_at: AwareDatetime | None = None
    trace: str | None = None
    rejection: str | None = None
    confirmation: Receipt | None = None
    confirmed_by: str | None = None
    looks: Looks = Looks()
    hinted: AwareDatetime | None = None
    before: Verification | None = None
    stop: str | None = None
    asked: AwareDatetime | None = None
    asked_why: str = ""
    told: tuple[str, ...] = ()
    overdue: AwareDatetime | None = None
    patient_until: AwareDatetime | None = None
    approval: Approval | None = None
    agreed: tuple[Agreement, ...] = ()
    left: str | None = None
    undo_asked: str | None = None
    undo_until: AwareDatetime | None = None
    begin_by: AwareDatetime | None = None
    decision: Decision | None = None
    decided: tuple[str, ...] = ()
    refused_decisions: int = 0
    anomalies: tuple[Anomaly, ...] = ()
    closed: Closed | None = None
    log: tuple[Line, ...] = ()

    @property
    def state(self) -> State:
        if self.closed:
            return self.closed.state
        if self.confirmation:
            return State.CONFIRMED
        if self.doubt is None:
            if self.rejection:
                return State.REJECTED
            return State.SENT if self.in_flight else State.PLANNED
        if self.asked or self.patient_until:
            return State.UNKNOWN
        return State.ACCEPTED if self.accepted else State.SENT

    @property
    def key(self) -> str:
        """The idempotency key of the present generation, as it is on the wire."""
        return wire_key(self.action_id, self.generation)

    @property
    def asserted(self) -> bool:
        """Whether only a human says that it happened."""
        return self.confirmed_by is not None and self.confirmed_by.startswith(WORD_OF)

    @property
    def sticky(self) -> str | None:
        """Why no number of misses can prove absence, if so."""
        if self.trace:
            return self.trace
        if self.accepted:
            return "the service accepted the request"
        return "an earlier run may have used further keys" if self.keys_unknown else None

    @property
    def keys_unknown(self) -> bool:
        """An earlier run of a tool that may change its key may have sent under another one."""
        key = self.contract.key
        return self.inherited and (self.can_fence or (key is not None and key.stores_failures))

    @property
    def conclusive_from(self) -> datetime | None:
        """From when on a lookup that starts, and misses, proves absence (R6); None: never."""
        after = self.contract.settles_after
        if self.doubt is None or after is None or self.sticky or not self.can_verify:
            return None
        return self.doubt.latest + after

    @property
    def landing_until(self) -> datetime | None:
        """Until when a request that may have left can still commit, as far as is promised."""
        if self.doubt is None:
            return None
        if self.contract.in_flight is None:
            return self.doubt.latest if self.doubt.latest > self.doubt.at else None
        return self.doubt.latest + self.contract.in_flight

    @property
    def look_after(self) -> datetime | None:
        """When a lookup must have started to count as the fresh look that a decision needs."""
        if self.decision is None or self.decision.at is None or self.doubt is None:
            return None
        shown = (self.contract.in_flight or timedelta(0)) + (
            self.contract.visibility_lag or timedelta(0)
        )
        return max(self.decision.at, self.doubt.latest + shown, self.ended or self.planned_at)

    @property
    def watch_until(self) -> datetime | None:
        """Until when the ended action is watched for an effect that lands late (R17)."""
        if self.closed is None or not self.spent or not self.contract.watch:
            return None
        # A second attempt without a key rests on the promise that the first cannot land any more.
        again = self.spent > 1 or (self.spent and self.confirmed_by == RESPONSE)
        sees = self.can_verify and self.contract.key is None
        unprotected = sees and (self.doubt or again)
        if self.closed.state in (State.NOT_FOUND, State.UNKNOWN) or unprotected:
            return self.closed.at + self.contract.watch
        return None
