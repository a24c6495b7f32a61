"""A step as it is submitted: checked, normalised, and small enough to be kept."""

from typing import Any

from pydantic import ValidationError

from surestep.errors import InvalidArguments, describe_validation
from surestep.identity import STEP_INPUT_LIMIT, check_name, check_step_id
from surestep.protocol import ActionInput, StepInput
from surestep.tool import Action


def submission(step_id: str, actions: tuple[Action, ...], **how: Any) -> StepInput:
    """The workflow's input. Raises InvalidStepId and InvalidArguments, before anything starts."""
    check_step_id(step_id)
    try:
        step = StepInput.model_validate({**how, "actions": _inputs(actions)})
    except ValidationError as error:
        raise InvalidArguments(describe_validation(error)) from None
    size = len(step.model_dump_json().encode())
    if size > STEP_INPUT_LIMIT:
        raise InvalidArguments(
            f"a step of {size} bytes is over the limit of {STEP_INPUT_LIMIT}: pass references "
            "to large content, or spread the actions over several steps"
        )
    return step


def _inputs(actions: tuple[Action, ...]) -> tuple[ActionInput, ...]:
    if not actions:
        raise InvalidArguments("a step needs an action: run(step_id, tool(…))")
    for action in actions:
        if not isinstance(action, Action):
            raise InvalidArguments(
                f"{type(action).__name__} is no action: call the tool with its arguments"
            )
        check_name(action.name)
    names = [action.name for action in actions]
    if len(set(names)) < len(names):
        raise InvalidArguments(f"two actions have one name in {names}: name them with .named('…')")
    return tuple(
        ActionInput(tool=one.tool, name=one.name, arguments=one.arguments) for one in actions
    )


def static_summary(step: StepInput) -> str:
    """What lists show of the step."""
    tools = ", ".join(action.tool for action in step.actions)
    return (f"{tools} · {step.label}" if step.label else tools)[:200]
