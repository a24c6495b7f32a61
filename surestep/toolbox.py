"""Finding tools by import string, as `uvicorn` finds an app: `acme.tools:tools`."""

import importlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from surestep.errors import ContractError, UnknownTool
from surestep.tool import Tool, Tools


def load_tools(import_strings: Iterable[str]) -> Tools:
    """The registry of everything that the import strings name: a Tool, or a collection of them.

    Import strings come from settings and the command line, never from a step's input. Raises
    UnknownTool with the remedy where one cannot be followed, and ContractError for a bad tool.
    """
    tools = Tools()
    for text in import_strings:
        for tool in _loaded(text):
            tools.add(tool)
    return tools


def find_tool(text: str, registered: Callable[[], Iterable[str]]) -> Tool:
    """The one tool that a person means: by an import string, or by its name.

    `registered` gives the import strings among which a name is looked up; they are loaded for a
    name only. Raises as `load_tools`, and UnknownTool where an import string holds several.
    """
    if ":" not in text:
        return load_tools(registered())[text]
    tools = list(load_tools([text]))
    undos = [tool.undo for tool in tools]
    found = [tool for tool in tools if tool not in undos]
    if len(found) > 1:
        names = ", ".join(tool.name for tool in found)
        raise UnknownTool(f"{text!r} holds several tools ({names}): name one of their variables")
    return found[0]


def _loaded(text: str) -> list[Tool]:
    module_name, _, attribute = text.partition(":")
    if not module_name or not attribute:
        raise UnknownTool(f"{text!r} is not of the form package.module:attribute")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise UnknownTool(
            f"{text!r}: no module {error.name!r} (looked in {here} and the environment)"
        ) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UnknownTool(f"{text!r}: module {module_name!r} has no {part!r}")
        found = getattr(found, part)
    if isinstance(found, Tool):
        return [found]
    tools = list(found) if isinstance(found, Iterable) else []
    if not tools or not all(isinstance(tool, Tool) for tool in tools):
        raise ContractError(f"{text!r} is neither a Tool nor a collection of Tools")
    return tools
