"""Reading what agents, people and services send in, whatever it is."""

import json
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError
from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from surestep.decision import Decision
from surestep.errors import describe_validation
from surestep.protocol import StepInput
from surestep.value import Value

NO_INPUT = RawValue(Payload())


class Notice(BaseModel):
    """A message of the service, such as a webhook: it happened, or it failed.

    key  the idempotency key that the service names; it must be one of ours
    """

    key: str
    happened: bool = True
    id: str | None = Field(default=None, max_length=200)
    status: str | None = Field(default=None, max_length=200)
    why: str = Field(default="", max_length=1000)


class Unread(Value):
    """What was sent cannot be used, and why."""

    why: str


M = TypeVar("M", bound=BaseModel)

_EXAMPLE = '{"action": "NAME", "verdict": "confirm", "by": "YOU", "note": "HOW YOU KNOW"}'


def read_decision(args: Sequence[Any]) -> Decision | Unread:
    return _read(Decision, args)


def read_notice(args: Sequence[Any]) -> Notice | Unread:
    return _read(Notice, args)


def _read(model: type[M], args: Sequence[Any]) -> M | Unread:
    """One JSON object, or the reason why it is none. A JSON text of an object is accepted."""
    try:
        if len(args) != 1:
            return Unread(why=f"{len(args)} inputs instead of one JSON object like {_EXAMPLE}")
        value = args[0]
        if isinstance(value, RawValue):
            value = workflow.payload_converter().from_payload(value.payload)
        if isinstance(value, str):
            value = json.loads(value)
        if not isinstance(value, dict):
            return Unread(why=f"a JSON {type(value).__name__} instead of an object like {_EXAMPLE}")
        return model.model_validate(value)
    except ValidationError as error:
        return Unread(why=describe_validation(error)[:500])
    except Exception as error:  # a payload can be anything, and a raise here would wedge the step
        return Unread(why=f"not readable as JSON ({type(error).__name__})")


def read_step(raw: RawValue) -> StepInput:
    """The step as submitted; what cannot be read ends the step before anything is sent."""
    try:
        if raw is NO_INPUT:
            raise ValueError("no input; give one JSON object with `actions`")
        value = workflow.payload_converter().from_payload(raw.payload)
        return StepInput.model_validate(value)
    except ValidationError as error:
        why = describe_validation(error)
    except Exception as error:  # any payload can come in; the step must end with a clear word
        why = str(error) or type(error).__name__
    raise ApplicationError(
        f"the step's input cannot be used, nothing was sent: {why}",
        type="InvalidArguments",
        non_retryable=True,
    )
