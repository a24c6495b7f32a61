"""Reading what agents, people and services send in, whatever it is."""

import json
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError
from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from surestep.decision import Decision
from surestep.errors import describe_validation
from surestep.identity import STEP_INPUT_LIMIT
from surestep.notice import Notice
from surestep.protocol import StepInput, WatchInput
from surestep.value import Value


class Unread(Value):
    """What was sent cannot be used, and why."""

    why: str


M = TypeVar("M", bound=BaseModel)
Run = TypeVar("Run", bound=Callable[..., Coroutine[Any, Any, Any]])

_EXAMPLE = (
    '{"action": "NAME", "verdict": "confirm", "version": 4, "by": "YOU", "note": "HOW YOU KNOW"}'
)


class Inputs(Value):
    """As many inputs as there should be one."""

    count: int


def with_any_number_of_inputs(run: Run) -> Run:
    """For a handler that takes one RawValue: it gets that, or `Inputs`, or a decoded value.

    Temporal calls a handler with as many arguments as there are payloads, and where that is one
    too many or too few, the task fails for ever. `wraps` keeps the signature that it reads.
    """

    @wraps(run)
    async def tolerant(self: Any, *inputs: Any) -> Any:
        return await run(self, _single(inputs))

    return cast(Run, tolerant)


def _single(inputs: Sequence[Any]) -> Any:
    return inputs[0] if len(inputs) == 1 else Inputs(count=len(inputs))


def read_decision(given: object) -> Decision | Unread:
    return _read(Decision, given)


def read_notice(given: object) -> Notice | Unread:
    return _read(Notice, given)


def _read(model: type[M], given: object) -> M | Unread:
    """One JSON object, or the reason why it is none. A JSON text of an object is accepted."""
    try:
        value = _decoded(given)
        if isinstance(value, str):
            value = json.loads(value)
        if not isinstance(value, dict):
            return Unread(why=f"a JSON {type(value).__name__} instead of an object like {_EXAMPLE}")
        return model.model_validate(value)
    except ValidationError as error:
        return Unread(why=describe_validation(error)[:500])
    except NotOneInput as error:
        return Unread(why=f"{error} like {_EXAMPLE}")
    except Exception as error:  # a payload can be anything, and a raise here would wedge the step
        return Unread(why=f"not readable as JSON ({type(error).__name__})")


def read_step(given: object) -> StepInput:
    """The step as submitted; what cannot be used ends the step before anything is sent."""
    try:
        step = StepInput.model_validate(_decoded(given))
        size = len(step.model_dump_json().encode())
        if not step.records and size > STEP_INPUT_LIMIT:
            raise ValueError(f"{size} bytes are over the limit of {STEP_INPUT_LIMIT}")
        return step
    except ValidationError as error:
        why = describe_validation(error)
    except Exception as error:  # any payload can come in; the step must end with a clear word
        why = f"{str(error) or type(error).__name__}; give one JSON object with `actions`"
    if workflow.info().continued_run_id is not None:
        raise FromAnotherVersion(f"the records of the run before cannot be read: {why[:1000]}")
    raise _unusable(f"the step's input cannot be used, nothing was sent: {why[:1000]}")


def read_watch(given: object) -> WatchInput:
    """What a watch watches; a person can start one by hand, or in the likeness of another."""
    try:
        return WatchInput.model_validate(_decoded(given))
    except ValidationError as error:
        why = describe_validation(error)
    except Exception as error:  # as above
        why = str(error) or type(error).__name__
    raise _unusable(f"the watch's input cannot be used: {why[:1000]}")


def _unusable(message: str) -> ApplicationError:
    return ApplicationError(message, type="InvalidArguments", non_retryable=True)


class FromAnotherVersion(Exception):
    """The run before this one could read it, and may have sent: this is no end of the step.

    It fails the workflow task, and Temporal tries again until a worker can read it.
    """


class NotOneInput(ValueError):
    """There must be one input, a JSON object."""


def _decoded(given: object) -> object:
    match given:
        case Inputs(count=count):
            raise NotOneInput(f"{count} inputs instead of one JSON object")
        case RawValue(payload=payload):
            return workflow.payload_converter().from_payload(payload)
        case _:
            return given
