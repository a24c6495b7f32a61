"""What a tool call answers to the model, and to the framework around it."""

from collections.abc import Iterable
from typing import Final

from surestep.agents.conversation import mark, unmarked
from surestep.identity import canonical
from surestep.narrative import when
from surestep.outcome import Advice, StepOutcome
from surestep.value import Value

RESULT_LIMIT: Final = 4000  # characters of a result in a reply
REFUSED: Final = "refused"
PENDING: Final = "pending"
STOPPED: Final = "stopped"


class Reply(Value):
    """The answer to one call.

    text     for the model: it never invites a repeat while an effect may exist
    step_id  the step that the call started or was attached to; None: none was
    state    the step's state; `pending`: not settled yet; `stopped`: ended from outside;
             `refused`: nothing was sent
    advice   what the agent should do now
    outcome  of a settled step
    """

    text: str
    state: str
    advice: Advice
    step_id: str | None = None
    outcome: StepOutcome | None = None

    @property
    def is_pending(self) -> bool:
        """Whether the framework may park the run until the step is settled."""
        return self.state == PENDING

    def __str__(self) -> str:
        return self.text


def settled(outcome: StepOutcome) -> Reply:
    """The reply that a settled step gives, however often it is asked."""
    text = outcome.for_model()
    if outcome.evidence:
        text = f"{text} Known since {when(outcome.evidence[-1].at)}."
    if outcome.result is not None:
        result = canonical(outcome.result)
        cut = f"{result[:RESULT_LIMIT]}… (cut)" if len(result) > RESULT_LIMIT else result
        text = f"{text} Result: {cut}"
    state = outcome.state.value
    return Reply(
        text=_marked(text, outcome.step_id, state),
        step_id=outcome.step_id,
        state=state,
        advice=outcome.advice,
        outcome=outcome,
    )


def pending(step_id: str, tool: str) -> Reply:
    """The reply while a step is not settled: the same each time."""
    text = (
        f"The action {tool!r} may already have happened; its outcome is being verified. Do not "
        "call it again, by this or any other tool. Wait for the outcome."
    )
    return Reply(
        text=_marked(text, step_id, PENDING), step_id=step_id, state=PENDING, advice=Advice.WAIT
    )


def refused(
    why: str, advice: Advice = Advice.FIX_AND_RESUBMIT, told: Iterable[Reply] = ()
) -> Reply:
    """The reply to a call for which nothing was sent, and no step was started.

    told  replies of other steps that the model must know before
    """
    text = " ".join(
        [unmarked(f"Nothing was sent for this call. {why}"), *(one.text for one in told)]
    )
    return Reply(text=text, state=REFUSED, advice=advice)


def stopped(step_id: str, tool: str) -> Reply:
    """The reply of a step that was ended from outside, with no outcome."""
    text = (
        f"Whether the action {tool!r} happened is not known: its step was ended from outside. Do "
        "not call it again, by this or any other tool. A person must look at it."
    )
    return Reply(
        text=_marked(text, step_id, STOPPED), step_id=step_id, state=STOPPED, advice=Advice.STOP
    )


def unfit(step_id: str, why: str) -> Reply:
    """The reply of a step whose worker could not use the call, and so sent nothing."""
    text = _marked(f"Nothing was sent for this call. {why}", step_id, REFUSED)
    return Reply(text=text, step_id=step_id, state=REFUSED, advice=Advice.FIX_AND_RESUBMIT)


def _marked(text: str, step_id: str, state: str) -> str:
    """The text with the mark of its step, and with no other: a service may have written it."""
    return f"{unmarked(text)} {mark(step_id, state)}"
