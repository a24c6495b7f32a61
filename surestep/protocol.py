"""What crosses between agent code, workflow and activities: names, orders and reports."""

from typing import Any, Final, Literal

from pydantic import AwareDatetime, Field

from surestep.contract import Contract
from surestep.decision import Decision
from surestep.evidence import CancelRequested, EarlierRun, Receipt, Sending, Verification
from surestep.facts import UndoPlan
from surestep.identity import ACTIONS_LIMIT, NAME_LIMIT, canonical, input_hash
from surestep.places import masked
from surestep.questions import NotifyOrder
from surestep.record import Record
from surestep.value import Value

STEP_WORKFLOW: Final = "AgentStep"
WATCH_WORKFLOW: Final = "LateWatch"

PLAN: Final = "plan"
EXECUTE: Final = "execute"
VERIFY: Final = "verify"
FENCE: Final = "fence"
EXAMINE: Final = "examine"
EXAMINE_NOTICE: Final = "examine_notice"
NOTIFY: Final = "notify"
ENTER: Final = "enter"
ATTEND: Final = "attend"

DECIDE: Final = "decide"
NOT_TAKEN: Final = "NotTaken"
"""Failure type of the update `decide` where the decision is refused; its detail is the ruling."""

NOTICE: Final = "notice"
RECORDS: Final = "records"
ACKNOWLEDGE: Final = "acknowledge"

TASK_QUEUE: Final = "surestep"
MEMO_HASH: Final = "surestepInput"
FIRST_RUN: Final = "surestep-first-run"
"""Header of a start that the server takes only for the first run of a step id."""

SENDING: Final = "sending"
"""The mark that an attempt leaves, durably, right before its first byte."""

LOOK_FIRST_LIMIT: Final = 5.0
"""Seconds for a look right before the first send: a courtesy, before there is a heartbeat."""

NOTHING_SENT: Final = ("InvalidArguments", "UnknownTool", "InvalidStepId", "NotSigned")
"""Failure types of a step that ended before anything could be sent."""


TEXT_LIMIT: Final = 200  # characters of a run's name or a label


class ActionInput(Value):
    """One action as it is submitted. `name` defaults to the tool's name.

    personal  where personal values stand, as far as the process that submits it knows its tool;
              not part of what is submitted
    """

    tool: str = Field(min_length=1, max_length=NAME_LIMIT)
    name: str | None = Field(default=None, min_length=1, max_length=2 * NAME_LIMIT)
    arguments: dict[str, Any] = Field(default_factory=dict)
    personal: tuple[str, ...] = Field(default=(), exclude=True)


class EarlierStep(Value):
    """An earlier run of the same step, of which this run has no record."""

    since: AwareDatetime | None
    why: str


class Undoes(Value):
    """A confirmed effect of a step that has ended, to be undone under the key `{actionId}/undo`.

    decisions  who wants it: in signed mode at least one, and two where two people must agree
    """

    action_id: str
    receipt: Receipt
    decisions: tuple[Decision, ...] = ()


class StepInput(Value):
    """The input of the workflow AgentStep; plain JSON from any language.

    mode             sequential: an action waits until the one before it is confirmed
    undo_on_failure  when an action ends without its effect, undo those confirmed before it
    earlier          set by whoever starts a step again that closed without an outcome
    requester        who asked for it; in signed mode this person may not approve it
    undoes           the confirmed effect of another step that this one undoes; it has one action
    records, earlier_run, stop, untold  carried over by continue-as-new
    """

    run: str = Field(default="", max_length=TEXT_LIMIT)
    label: str = Field(default="", max_length=TEXT_LIMIT)
    actions: tuple[ActionInput, ...] = Field(min_length=1, max_length=ACTIONS_LIMIT)
    mode: Literal["sequential", "parallel"] = "sequential"
    undo_on_failure: bool = False
    requester: str = Field(default="", max_length=TEXT_LIMIT)
    undoes: Undoes | None = None
    earlier: EarlierStep | None = None
    records: tuple[Record, ...] = ()
    earlier_run: EarlierRun | None = None
    stop: CancelRequested | None = None
    untold: tuple[NotifyOrder, ...] = ()

    @property
    def hash(self) -> str:
        """The hash by which a second submission is the same step or a conflict."""
        actions = [
            {"name": one.name or one.tool, "tool": one.tool, "arguments": one.arguments}
            for one in self.actions
        ]
        kind = {"mode": self.mode, "undo_on_failure": self.undo_on_failure}
        return input_hash({"actions": actions, **kind})

    def differences(self, other: "StepInput") -> list[str]:
        """What `other` has that this does not, field by field; values shortened."""
        found = [
            f"{field}: {getattr(self, field)} there, {getattr(other, field)} now"
            for field in ("mode", "undo_on_failure")
            if getattr(self, field) != getattr(other, field)
        ]
        mine = {one.name or one.tool: one for one in self.actions}
        theirs = {one.name or one.tool: one for one in other.actions}
        if list(mine) != list(theirs):
            found.append(f"actions: {list(mine)} there, {list(theirs)} now")
        for name in mine.keys() & theirs.keys():
            if mine[name].tool != theirs[name].tool:
                found.append(f"{name}.tool: {mine[name].tool} there, {theirs[name].tool} now")
            there, now = mine[name].arguments, theirs[name].arguments
            hidden = {*mine[name].personal, *theirs[name].personal}
            for field in sorted(there.keys() | now.keys()):
                old, new = _short(there, field, hidden), _short(now, field, hidden)
                if old != new or canonical(there.get(field)) != canonical(now.get(field)):
                    found.append(f"{name}.{field}: {old} there, {new} now")
        return found


def _short(arguments: dict[str, Any], field: str, hidden: set[str]) -> str:
    if field not in arguments:
        return "absent"
    for pattern in hidden:
        arguments = masked(arguments, pattern)
    text = canonical(arguments[field])
    return text if len(text) <= 60 else f"{text[:57]}..."


class PlanOrder(Value):
    """What `plan` needs beside the actions to know whether this run is the first.

    run_attempt  of the workflow, by its own retry policy
    carried  this run has the records of the runs before it
    first    the server has said that no run was before this one
    again    the run has planned before, and only its id is wanted
    """

    actions: tuple[ActionInput, ...]
    step_id: str
    started: AwareDatetime
    original_run_id: str
    first_run_id: str
    run_attempt: int
    carried: bool
    earlier: EarlierStep | None
    undoes: Undoes | None = None
    first: bool = False
    again: bool = False


class PlannedAction(Value):
    """An action that is fit to be performed, with the contract that holds for all its life."""

    name: str
    tool: str
    arguments: dict[str, Any]
    input_hash: str
    contract: Contract
    can_verify: bool
    can_fence: bool
    needs_approval: bool = False
    subject: Receipt | None = None
    undo: UndoPlan | None = None
    recognised: str = ""
    personal: tuple[str, ...] = ()


class Plan(Value):
    """The answer of `plan`.

    run_id   the run that made the plan; what a later run finds in its history names the old one
    at       when, by the worker's clock
    visible  the search attributes are registered
    notifies  this deployment tells people of questions
    """

    actions: tuple[PlannedAction, ...]
    run_id: str
    at: AwareDatetime
    earlier: EarlierStep | None
    visible: bool
    notifies: bool = False


class SendOrder(Value):
    """The input of `execute`: one attempt of one action.

    run_id   the run that ordered it; any other run must not carry it out
    timeout  seconds for the exchange with the service
    room     bytes of JSON that the result may have
    """

    key: str
    tool: str
    arguments: dict[str, Any]
    attempt: int
    run_id: str
    timeout: float
    room: int
    look_first: bool = False
    before: Verification | None = None
    receipt: Receipt | None = None


class SendReport(Value):
    """The answer of `execute`.

    lost    it may still be sending, until its deadline: its worker was lost, or cut it off
    before  what a look right before the send saw
    """

    outcome: Sending
    why: str = ""
    lost: bool = False
    receipt: Receipt | None = None
    retry_after: float | None = None
    before: Verification | None = None


class EnterOrder(Value):
    """The input of `enter`: a step that another workflow submits."""

    step_id: str
    step: StepInput


class LookOrder(Value):
    """The input of `verify` and `fence`."""

    key: str
    tool: str
    arguments: dict[str, Any]
    attempt: int
    timeout: float
    room: int
    before: Verification | None = None
    receipt: Receipt | None = None


class FenceReport(Value):
    """The answer of `fence`; neither held nor exists: it failed."""

    held: bool = False
    exists: Receipt | None = None
    why: str = ""


class WatchInput(Value):
    """The input of the workflow LateWatch: ended records that can still be contradicted.

    acknowledged, untold  carried over by continue-as-new
    """

    step_id: str
    run: str = ""
    visible: bool
    notifies: bool = False
    records: tuple[Record, ...]
    acknowledged: bool = False
    untold: tuple[NotifyOrder, ...] = ()
