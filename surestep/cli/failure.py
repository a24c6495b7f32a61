"""What a failure means to an operator: a sentence and an exit code. Unlisted: a fault of ours."""

from temporalio.service import RPCError, RPCStatusCode

import surestep
from surestep.cli.exits import Exit
from surestep.handle import StepPending
from surestep.registration import no_namespace
from surestep.visibility import SEARCH_ATTRIBUTES

_EXITS: tuple[tuple[type[surestep.SurestepError], Exit], ...] = (
    (surestep.StepConflict, Exit.CONFLICT),
    (StepPending, Exit.OPEN),
    (surestep.StepFailed, Exit.ENDED),
    (surestep.NoSuchStep, Exit.NO_SUCH_STEP),
    (surestep.NothingToUndo, Exit.NOT_TAKEN),
    (surestep.NotSigned, Exit.NOT_TAKEN),
    (surestep.CannotConnect, Exit.UNREACHABLE),
)

_UNREACHABLE = {
    RPCStatusCode.UNAVAILABLE: "the server does not answer; try again, the same call is safe",
    RPCStatusCode.DEADLINE_EXCEEDED: "the server does not answer in time; try again",
    RPCStatusCode.RESOURCE_EXHAUSTED: "the server is over its limits; try again later",
    RPCStatusCode.UNAUTHENTICATED: "correct the credentials in the TEMPORAL_ variables or profile",
    RPCStatusCode.PERMISSION_DENIED: "these credentials may not do this; use others",
    RPCStatusCode.UNIMPLEMENTED: "this server does not offer it",
}


class NotSetUp(surestep.SurestepError):
    """The namespace has not the search attributes of Surestep; the message names the remedy."""


def explain(error: BaseException) -> tuple[Exit, str] | None:
    """The exit code and the sentence for an expected failure; None: a fault."""
    if isinstance(error, NotSetUp):
        return Exit.NOT_SET_UP, str(error)
    for kind, code in _EXITS:
        if isinstance(error, kind):
            return code, str(error)
    if isinstance(error, surestep.SurestepError):
        return Exit.INVALID, str(error)
    return _explain_call(error) if isinstance(error, RPCError) else None


def no_execution(error: RPCError) -> bool:
    """Whether the call failed because the step is missing, or is closed."""
    return error.status is RPCStatusCode.NOT_FOUND and not no_namespace(error)


def _explain_call(error: RPCError) -> tuple[Exit, str] | None:
    if no_namespace(error):
        remedy = "correct TEMPORAL_NAMESPACE, or create it with `setup --create-namespace`"
        return Exit.UNREACHABLE, f"{error.message} {remedy}"
    if no_execution(error):
        return Exit.NO_SUCH_STEP, error.message
    if error.status in _UNREACHABLE:
        return Exit.UNREACHABLE, f"{error.message}: {_UNREACHABLE[error.status]}"
    unregistered = [name for name in SEARCH_ATTRIBUTES if name in error.message]
    if error.status is RPCStatusCode.INVALID_ARGUMENT and unregistered:
        remedy = "register it with `python starter.py setup`"
        return Exit.NOT_SET_UP, f"the namespace does not know {unregistered[0]}: {remedy}"
    if error.status is RPCStatusCode.INVALID_ARGUMENT:
        return Exit.INVALID, error.message
    return None
