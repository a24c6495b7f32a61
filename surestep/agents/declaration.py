"""How a tool introduces itself to a model: a description and a JSON schema, as it is declared."""

import inspect
from typing import Any

from surestep.contract import Effect
from surestep.tool import Tool

_EFFECT = "It has an effect in the outside world: call it once, and wait for its outcome."


def description(tool: Tool) -> str:
    """The docstring of the argument model, and for a write what follows from its being one."""
    own = tool.arguments.__dict__.get("__doc__")
    text = inspect.cleandoc(own) if own else f"Perform the action {tool.name!r}."
    return text if tool.contract.effect is Effect.READ else f"{text}\n\n{_EFFECT}"


def schema(tool: Tool) -> dict[str, Any]:
    """The JSON schema of the arguments, as the argument model reads them."""
    found = tool.arguments.model_json_schema(by_alias=True, mode="validation")
    found.pop("description", None)
    return found
