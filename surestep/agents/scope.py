"""The agent run that tool calls belong to, where the framework has no name for it that lasts."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from surestep.errors import InvalidArguments
from surestep.identity import NAME_LIMIT, STEP_ID_LIMIT, step_id
from surestep.protocol import TEXT_LIMIT
from surestep.value import Value

# What a step id needs behind the run: `/{tool}/{number}`.
_TAIL: Final = NAME_LIMIT + 8


class Scope(Value):
    """Who asks. `run` names the agent run, `requester` the person for whom it acts."""

    run: str
    requester: str = ""


_SCOPE: ContextVar[Scope | None] = ContextVar("surestep_agent_run", default=None)


@contextmanager
def agent_run(run: str, *, requester: str = "") -> Iterator[None]:
    """Everything inside, sub-agents too, belongs to this run, whatever the framework calls it.

    run  chosen by whoever starts the agent, from what is the same after a restart: a ticket, a
         request id, a thread. Never a random number, never the time
    """
    token = _SCOPE.set(Scope(run=check_run(run), requester=requester))
    try:
        yield
    finally:
        _SCOPE.reset(token)


def scope_of(framework_run: str | None, remedy: str) -> Scope:
    """The scope that `agent_run` set, or else the run that the framework has kept.

    Raises InvalidArguments with the remedy where neither names one.
    """
    scope = _SCOPE.get()
    if scope:
        return scope
    if not framework_run:
        raise InvalidArguments(
            "this agent run has no name that survives a restart, so a repeated call could not be "
            f"told from a new one: {remedy}, or wrap the run in surestep.agents.agent_run('…')"
        )
    return Scope(run=check_run(framework_run))


def check_run(run: str) -> str:
    """The run itself. Raises InvalidArguments for what cannot name one."""
    if not isinstance(run, str) or not run.strip() or len(run) > TEXT_LIMIT:
        raise InvalidArguments(
            f"run {run!r:.80} must be a text of 1 to {TEXT_LIMIT} characters that names the agent "
            "run and is the same after a restart"
        )
    return run


def prefix(run: str) -> str:
    """What the step ids of a run begin with; different runs, different prefixes."""
    text = step_id(*run.split("/"))
    return text if len(text) <= STEP_ID_LIMIT - _TAIL else step_id(run, "=")
