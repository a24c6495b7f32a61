"""Every failure is definite or indefinite.

SurestepError
├── Definite            nothing was applied, and this attempt will apply nothing
│   ├── NotSent         no byte of the request left
│   └── Refused         the service answered no, with nothing applied
├── Ambiguous           the effect may or may not exist
├── ContractError       a tool contradicts itself (at registration)
├── UnknownTool         no such tool is registered
├── InvalidArguments    the arguments do not fit the tool (before anything starts)
├── InvalidStepId       the step id or action name cannot serve as a key
├── StepConflict        the step exists with other input; nothing was sent
├── StepPending         the step is not settled within the limit (surestep.handle)
├── DecisionPending     no worker has answered a decision within the limit (surestep.answer)
├── StepFailed          the step ended without an outcome
├── NoSuchStep          there is no step of this id
├── NothingToUndo       the action is not confirmed, or has no undo
├── NotSigned           in signed mode, nobody who may has signed it; nothing was sent
└── CannotConnect       no Temporal server answers

An exception that `execute` raises and that is not a `Definite` is ambiguous, whatever it is.
"""

from collections.abc import Collection
from datetime import timedelta
from typing import Any, Final, get_args

from pydantic_core.core_schema import ErrorType


class SurestepError(Exception):
    """Base of everything that Surestep raises."""


class Definite(SurestepError):
    """Nothing was applied, and this attempt will apply nothing."""


class NotSent(Definite):
    """No byte of the request can have left. It is tried again, after `retry_after` if given."""

    def __init__(self, why: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(why)
        self.retry_after = retry_after


class Refused(Definite):
    """The service refused and applied nothing; `again`: the same request may be tried again."""

    def __init__(
        self, why: str, *, again: bool = False, retry_after: timedelta | None = None
    ) -> None:
        super().__init__(why)
        self.again = again
        self.retry_after = retry_after


class Ambiguous(SurestepError):
    """The effect may or may not exist, or may still come."""


class ContractError(SurestepError):
    """A tool contradicts itself; the message names the remedy."""


class UnknownTool(SurestepError):
    """No tool of this name is registered; the message names those that are."""


class InvalidArguments(SurestepError):
    """The arguments do not fit; the message names the field and what it should be."""


class InvalidStepId(SurestepError):
    """The id cannot serve as workflow id and idempotency key; the message says what to change."""


class StepConflict(SurestepError):
    """A step of this id exists with other input: `differences` names them. Nothing was sent."""

    def __init__(self, step_id: str, differences: list[str]) -> None:
        super().__init__(
            f"step {step_id!r} already exists with other input: {'; '.join(differences)}. "
            "Nothing was sent. An intended repeat needs a step id of its own."
        )
        self.step_id = step_id
        self.differences = differences


class StepFailed(SurestepError):
    """The step ended without an outcome (terminated, timed out, or failed)."""


class NoSuchStep(SurestepError):
    """There is no step of this id, or retention has removed it."""


class NothingToUndo(SurestepError):
    """The action is not confirmed, or cannot be undone (R15)."""


ANOTHER = "one more person must sign the same"
"""Part of the message of NotSigned where only that is missing."""


class NotSigned(SurestepError):
    """Decisions must be signed here, and this one is not as it must be; the message says why."""


class CannotConnect(SurestepError):
    """No Temporal server answers at the address; the message says what to do."""


def summary(error: BaseException) -> str:
    """What of an error may be recorded: our own errors' words, of others only the class.

    A foreign exception's text can hold addresses, bodies and secrets; it stays out of the history.
    """
    if isinstance(error, SurestepError) and str(error):
        return str(error)[:500]
    return f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")


_REPEATING: Final = ("value_error", "assertion_error", "union_tag_invalid", "uuid_parsing")
_OWN_WORDS: Final = {"secret_name", *get_args(ErrorType)} - {*_REPEATING, "get_attribute_error"}

# Of one input. To list a hundred thousand unknown fields takes a workflow task longer than it has.
_LISTED: Final = 20_000
_DESCRIBED: Final = 10


def describe_validation(error: Any, sensitive: Collection[str] = ()) -> str:
    """One line for a pydantic ValidationError: each field with what is wrong, no input values.

    sensitive  fields of which not even a validator's own words are repeated; nor are those of the
               whole model then, because it sees every field
    """
    if (count := error.error_count()) > _LISTED:
        return f"input: {count} of its fields are unknown or wrong"
    items = error.errors(include_url=False, include_input=False, include_context=False)
    said = [
        f"{'.'.join(str(part) for part in item['loc']) or 'input'}: {_what(item, sensitive)}"
        for item in items[:_DESCRIBED]
    ]
    if more := count - len(said):
        said.append(f"and {more} more")
    return "; ".join(said)


def _what(item: Any, sensitive: Collection[str]) -> str:
    """What is wrong; the words of whoever wrote a validator may repeat what it was given."""
    foreign = item["type"] not in _OWN_WORDS
    repeats = sensitive and (not item["loc"] or item["loc"][0] in sensitive)
    return "it is refused by its validator" if foreign and repeats else str(item["msg"])
