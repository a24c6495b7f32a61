"""What an agent gets: outcomes, and the sentence that is safe to put into a model's context."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from surestep.evidence import Receipt, State
from surestep.facts import Anomaly, Facts, Line
from surestep.shown import shown
from surestep.value import Value


class Advice(StrEnum):
    """What the agent should do now."""

    DONE = "done"
    FIX_AND_RESUBMIT = "fix_and_resubmit"
    WAIT = "wait"
    STOP = "stop"


_ADVICE = {
    State.CONFIRMED: Advice.DONE,
    State.REJECTED: Advice.FIX_AND_RESUBMIT,
    State.NOT_FOUND: Advice.STOP,
    State.COMPENSATED: Advice.STOP,
}

# The step's state is the state of the action that is worst off, by this order.
_WORST_FIRST = (
    State.UNKNOWN,
    State.ACCEPTED,
    State.SENT,
    State.PLANNED,
    State.REJECTED,
    State.NOT_FOUND,
    State.COMPENSATED,
    State.CONFIRMED,
)


class Outcome(Value):
    """How one action stands. `result` is the JSON that the service's receipt carries."""

    action_id: str
    name: str
    tool: str
    state: State
    why: str
    receipt: Receipt | None = None
    evidence: tuple[Line, ...] = ()
    anomalies: tuple[Anomaly, ...] = ()
    cancel_requested: bool = False
    ended: bool = False

    @property
    def result(self) -> Any:
        return self.receipt.result if self.receipt else None

    @property
    def advice(self) -> Advice:
        if self.anomalies or (self.ended and self.state is State.UNKNOWN):
            return Advice.STOP
        return _ADVICE.get(self.state, Advice.WAIT)

    def for_model(self) -> str:
        """One or two sentences. They never invite a repeat while an effect may exist."""
        named = f" (id {self.receipt.id})" if self.receipt and self.receipt.id else ""
        subject = f"The action {self.name!r}"
        match self.state:
            case State.CONFIRMED if self.anomalies:
                return (
                    f"{subject} happened{named}, and people are looking into it. Do not repeat it."
                )
            case State.CONFIRMED:
                return f"{subject} is done{named}. It happened once. Do not call it again."
            case State.REJECTED:
                return (
                    f"{subject} was refused and had no effect: {self.why}. "
                    "The same call will be refused again; a corrected one is a new step."
                )
            case State.NOT_FOUND:
                return (
                    f"{subject} had no effect and will have none: {self.why}. Do not call it again."
                )
            case State.COMPENSATED:
                return f"{subject} happened and was undone. Do not call it again."
            case State.UNKNOWN if self.ended:
                return (
                    f"Whether {subject[0].lower()}{subject[1:]} happened will not be known: "
                    f"{self.why}. Do not call it again, by this or any other tool."
                )
            case State.PLANNED if self.why:
                return (
                    f"{subject} was not done yet: {self.why}. Do not call it again; it is asked "
                    "once, and done once if a person agrees. Wait for the outcome."
                )
            case _:
                return (
                    f"{subject} may already have happened; its outcome is being verified. "
                    "Do not call it again, by this or any other tool. Wait for the outcome."
                )


class StepOutcome(Value):
    """How a step stands: the outcome of each action, and of the one that is worst off."""

    step_id: str
    run: str = ""
    label: str = ""
    actions: tuple[Outcome, ...]

    @property
    def worst(self) -> Outcome:
        return min(self.actions, key=lambda outcome: _WORST_FIRST.index(outcome.state))

    @property
    def state(self) -> State:
        return self.worst.state

    @property
    def advice(self) -> Advice:
        return Advice.STOP if any(one.anomalies for one in self.actions) else self.worst.advice

    @property
    def result(self) -> Any:
        """The result of the only action; of several, a mapping from action name to result."""
        if len(self.actions) == 1:
            return self.actions[0].result
        return {outcome.name: outcome.result for outcome in self.actions}

    @property
    def evidence(self) -> tuple[Line, ...]:
        """Everything that is known, in order of time."""
        lines = (line for outcome in self.actions for line in outcome.evidence)
        return tuple(sorted(lines, key=lambda line: line.at))

    def __getitem__(self, name: str) -> Outcome:
        for outcome in self.actions:
            if outcome.name == name:
                return outcome
        raise KeyError(f"no action {name!r}; there are {[one.name for one in self.actions]}")

    def for_model(self) -> str:
        """What may be told to the model, one sentence or two per action."""
        return " ".join(outcome.for_model() for outcome in self.actions)


def worst_state(records: Sequence[Facts]) -> State:
    """The state of the record that is worst off; planned if there is none yet."""
    states = [record.state for record in records]
    return min(states, key=_WORST_FIRST.index) if states else State.PLANNED


def _why(record: Facts) -> str:
    if record.closed:
        return record.closed.why
    approval, asked = record.approval, record.asked
    if approval and asked is None and record.state is State.PLANNED:
        return f"approved by {approval.by}; it is not sent yet"
    return record.asked_why


def outcome_of(record: Facts) -> Outcome:
    """The outcome that a record stands for now.

    Personal values are masked, except in the receipt, which is what the service answered.
    """
    receipt, record = record.confirmation or record.accepted, shown(record)
    closed = record.closed
    return Outcome(
        action_id=record.action_id,
        name=record.name,
        tool=record.tool,
        state=record.state,
        why=_why(record),
        receipt=receipt,
        evidence=record.log,
        anomalies=record.anomalies,
        cancel_requested=record.stop is not None,
        ended=closed is not None,
    )
