"""What a tool's service promises. `None` always means: not promised."""

from datetime import timedelta
from enum import StrEnum
from typing import Self

from pydantic import field_validator, model_validator

from surestep.errors import ContractError
from surestep.value import Value

ZERO = timedelta(0)

# Longer is for ever, and beyond the calendar.
FOREVER = timedelta(days=36_500)

# Between "send" being decided and the attempt's end lie one workflow task (ten seconds at the
# most by default), the queue, and the attempt itself. The slack covers the first and the margins.
SLACK = timedelta(seconds=15)


class Effect(StrEnum):
    """What performing the action does to the world."""

    READ = "read"
    REVERSIBLE = "reversible"
    IRREVERSIBLE = "irreversible"


class KeySupport(Value):
    """The service de-duplicates requests that carry our key, for `lifetime` after the first.

    `lifetime`: FOREVER, or anything longer, where a key is never forgotten.
    `stores_failures`: it also replays a failure stored under the key for as long as it knows it.
    """

    lifetime: timedelta
    stores_failures: bool = False

    @field_validator("lifetime")
    @classmethod
    def _for_ever_at_most(cls, lifetime: timedelta) -> timedelta:
        return min(lifetime, FOREVER)


class ApprovalRule(Value):
    """A human approves before the first send (R19); `Tool.approve_if` says for which arguments.

    expires  how long the question stands; after that the action is not run
    valid    how long after the approval the action may begin; after that it is asked again
    """

    expires: timedelta = timedelta(days=1)
    valid: timedelta = timedelta(hours=1)


class Contract(Value):
    """What the service promises, and how patient to be with it.

    in_flight        longest time after sending until a request can no longer commit (Δ)
    visibility_lag   longest time after a commit until `verify` shows it (λ); 0: strong read
    response_proves  a success answer proves the effect; False: it is only an acceptance
    misses           consecutive late enough misses that prove absence
    timeout          longest time one attempt may take
    queue            longest time an attempt may wait for a worker
    sends            attempts that may have left, before looking is all that remains
    patience         how long looks go on by themselves before a person is asked
    completes_within how long an accepted operation may take before a person is asked
    watch            how long an ended action is watched for an effect that lands late
    look_first       look before the first send where the service ignores our key
    approval         a human must approve before the first send; None: nobody is asked
    overdue_after    how long a question may stand until somebody else is told; None: for ever
    """

    effect: Effect
    key: KeySupport | None = None
    in_flight: timedelta | None = None
    visibility_lag: timedelta | None = None
    response_proves: bool = True
    misses: int = 1
    timeout: timedelta = timedelta(seconds=30)
    queue: timedelta = timedelta(seconds=60)
    sends: int = 5
    patience: timedelta = timedelta(seconds=30)
    completes_within: timedelta = timedelta(hours=1)
    watch: timedelta = timedelta(days=1)
    look_first: bool = True
    ask: bool = False
    approval: ApprovalRule | None = None
    overdue_after: timedelta | None = timedelta(hours=4)

    @property
    def dispatch_limit(self) -> timedelta:
        """Longest time from the decision to send until nothing can be sent by it any more.

        Twice the timeout: a worker counts its own from when the attempt has reached it.
        """
        return SLACK + self.queue + self.timeout * 2

    @property
    def in_flight_bound(self) -> timedelta:
        """Δ; where it is not promised, half the key's lifetime stands in for it (R4)."""
        if self.in_flight is not None:
            return self.in_flight
        return self.key.lifetime / 2 if self.key else ZERO

    @property
    def settles_after(self) -> timedelta | None:
        """How long after the latest possible send a miss proves absence; None: never (R6)."""
        if self.in_flight is None or self.visibility_lag is None:
            return None
        return self.in_flight + self.visibility_lag

    @model_validator(mode="after")
    def _durations_are_sane(self) -> Self:
        for name in ("timeout", "queue", "patience", "completes_within"):
            if getattr(self, name) <= ZERO:
                raise ContractError(f"{name} must be longer than zero")
        for name in ("in_flight", "visibility_lag", "watch", "overdue_after"):
            value = getattr(self, name)
            if value is not None and value < ZERO:
                raise ContractError(
                    f"{name} must not be negative; leave it out where nothing is promised"
                )
        rule = self.approval
        if rule and (rule.expires <= ZERO or rule.valid <= ZERO):
            raise ContractError("expires and valid of an approval must be longer than zero")
        for name, value in self:
            if isinstance(value, timedelta) and value > FOREVER:
                raise ContractError(f"{name} is longer than a century; leave it out instead")
        if self.misses < 1 or self.sends < 1:
            raise ContractError("misses and sends must be 1 or more")
        if self.key and self.key.lifetime <= self.dispatch_limit + self.in_flight_bound:
            raise ContractError(
                f"the key's lifetime ({self.key.lifetime}) is not longer than one attempt can take "
                f"until it commits ({self.dispatch_limit + self.in_flight_bound}), so no retry "
                "under the key would ever be safe: shorten queue and timeout, promise a shorter "
                "in_flight, or declare key=None"
            )
        return self
