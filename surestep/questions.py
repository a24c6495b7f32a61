"""What crosses to the activities that deal with people: what came in, and messages."""

from enum import StrEnum

from pydantic import AwareDatetime

from surestep.contract import Effect
from surestep.decision import Decision
from surestep.notice import Notice
from surestep.value import Value


class ExamineOrder(Value):
    """The input of `examine`: a decision that was received, and what it is about.

    now        when it was handed over, by the workflow's clock
    by_signal  it came as a signal, so the server knows when; otherwise it came just now
    requester  who asked for the step, in the agent's words
    needs_approval  nothing of it is sent without somebody's consent; `retry` is one as well
    agreed     who has said the same before, where two must
    """

    decision: Decision
    action_id: str
    tool: str
    effect: Effect
    input_hash: str
    requester: str
    now: AwareDatetime
    by_signal: bool
    agreed: tuple[str, ...] = ()
    needs_approval: bool = False


class Examined(Value):
    """The answer of `examine`.

    at             when the decision was received, by the server's clock where it knows
    now            when it was examined, by the worker's clock
    by             who made it, proven by signature; None: only claimed
    objection      why it says nothing; None: it may be taken
    needs_another  one more person must say the same
    """

    at: AwareDatetime
    now: AwareDatetime
    by: str | None = None
    objection: str | None = None
    needs_another: bool = False


class NoticeOrder(Value):
    """The input of `examine_notice`: a notice that was received, and the keys of its action."""

    notice: Notice
    tool: str
    keys: tuple[str, ...]
    now: AwareDatetime


class NoticeExamined(Value):
    """The answer of `examine_notice`: when, and why it says nothing; None: it counts."""

    now: AwareDatetime
    objection: str | None = None


class Occasion(StrEnum):
    """Why people are told."""

    QUESTION = "question"
    OVERDUE = "overdue"
    ANOMALY = "anomaly"


class NotifyOrder(Value):
    """The input of `notify`: what people are told. No arguments, no results, no secrets.

    id          the same for every repetition of this message, so that a receiver knows it again
    recognised  the one argument by which a person knows the action
    decided     what was decided, in words, where it is not carried out yet
    """

    id: str
    occasion: Occasion
    step_id: str
    run_id: str
    action: str
    tool: str
    state: str
    recognised: str
    why: str
    since: AwareDatetime
    verdicts: tuple[str, ...] = ()
    decided: str = ""
