"""A step as it is submitted: checked, normalised, and small enough to be kept."""

import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from surestep.errors import InvalidArguments, describe_validation
from surestep.identity import STEP_INPUT_LIMIT, check_name, check_step_id
from surestep.mask import Mask
from surestep.places import matching
from surestep.protocol import ActionInput, StepInput
from surestep.tool import Action

MARKUP: Final = re.compile(r"([\\`\[\]<>&!])")
"""What makes HTML, images and links of a label in the Web UI, which renders it as Markdown."""


def submission(step_id: str, actions: tuple[Action, ...], **how: Any) -> StepInput:
    """The workflow's input. Raises InvalidStepId and InvalidArguments, before anything starts."""
    check_step_id(step_id)
    try:
        step = StepInput.model_validate({**how, "actions": _inputs(actions)})
    except ValidationError as error:
        raise InvalidArguments(describe_validation(error)) from None
    for action in step.actions:
        names = {"run": step.run, "label": step.label, "requester": step.requester}
        refuse_in_names(action, {"step id": step_id, "action name": action.name or "", **names})
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
        ActionInput(tool=one.tool, name=one.name, arguments=one.arguments, personal=one.personal)
        for one in actions
    )


def refuse_in_names(action: ActionInput | Action, names: Mapping[str, str]) -> None:
    """Names are shown in every list. Raises InvalidArguments where one holds a personal value."""
    for pattern in action.personal:
        mask = Mask(matching(action.arguments, pattern))
        for what, name in names.items():
            if mask.finds(name):
                raise InvalidArguments(
                    f"the {what} holds the personal argument {pattern.replace('/', '.')!r}, and "
                    "ids and names are shown everywhere: name the intent in another way, such as "
                    "by an id of your own"
                )


def static_summary(step: StepInput) -> str:
    """What lists show of the step, as one line of plain text."""
    tools = ", ".join(action.tool for action in step.actions)
    label = MARKUP.sub(r"\\\1", " ".join(step.label.split()))
    return (f"{tools} · {label}" if label else tools)[:200]
