"""Surestep: an AI agent's side effects happen once, or a person is asked."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from surestep.contract import ApprovalRule, Contract, Effect, KeySupport
from surestep.decision import Decision, Ruling, Verdict
from surestep.errors import (
    Ambiguous,
    CannotConnect,
    ContractError,
    InvalidArguments,
    InvalidStepId,
    NoSuchStep,
    NothingToUndo,
    NotSent,
    NotSigned,
    Refused,
    StepConflict,
    StepFailed,
    SurestepError,
    UnknownTool,
)
from surestep.evidence import (
    Receipt,
    State,
    Verification,
    confirmed,
    not_found,
    pending,
    rejected,
    unknown,
)
from surestep.identity import step_id
from surestep.outcome import Advice, Outcome, StepOutcome
from surestep.sensitive import Personal, Secret
from surestep.tool import Accepted, Action, Call, Fence, Tool, Tools

if TYPE_CHECKING:
    from surestep.answer import DecisionPending
    from surestep.client import Surestep
    from surestep.handle import StepHandle, StepPending
    from surestep.summary import StepSummary

__all__ = [
    "Accepted",
    "Action",
    "Advice",
    "Ambiguous",
    "ApprovalRule",
    "Call",
    "CannotConnect",
    "Contract",
    "ContractError",
    "Decision",
    "DecisionPending",
    "Effect",
    "Fence",
    "InvalidArguments",
    "InvalidStepId",
    "KeySupport",
    "NoSuchStep",
    "NotSent",
    "NotSigned",
    "NothingToUndo",
    "Outcome",
    "Personal",
    "Receipt",
    "Refused",
    "Ruling",
    "Secret",
    "State",
    "StepConflict",
    "StepFailed",
    "StepHandle",
    "StepOutcome",
    "StepPending",
    "StepSummary",
    "Surestep",
    "SurestepError",
    "Tool",
    "Tools",
    "UnknownTool",
    "Verdict",
    "Verification",
    "confirmed",
    "not_found",
    "pending",
    "rejected",
    "step_id",
    "unknown",
]

_NEED_TEMPORAL = {
    "Surestep": "client",
    "DecisionPending": "answer",
    "StepHandle": "handle",
    "StepPending": "handle",
    "StepSummary": "summary",
}


def __getattr__(name: str) -> Any:
    """The client is loaded when it is asked for: workflows import this package without it."""
    if name in _NEED_TEMPORAL:
        return getattr(import_module(f"surestep.{_NEED_TEMPORAL[name]}"), name)
    raise AttributeError(f"module 'surestep' has no attribute {name!r}")
