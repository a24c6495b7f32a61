"""The argument model of an MCP server's tool, from the JSON schema that describes its input."""

import copy
from collections.abc import Mapping
from typing import Any, Final

import jsonschema  # type: ignore[import-untyped]  # it comes with mcp, and has no stubs
from pydantic import BaseModel, ConfigDict, model_validator
from referencing import Registry
from referencing.exceptions import Unresolvable

from surestep.errors import ContractError

ELSEWHERE: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"})
"""Where a schema has properties that do not stand in `properties`."""


def argument_model(schema: Mapping[str, Any], *, without: str | None = None) -> type[BaseModel]:
    """A model that takes what the schema takes, and keeps it as it is.

    without  an argument that Surestep fills in: no caller may, and it is not shown to a model

    Top-level names that the schema does not know are refused, unless it says that it takes them: a
    misspelt one would be another intent. Raises ContractError for what is no JSON schema.
    """
    shown = _shown(schema, without)
    validator = _validator(shown)

    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @model_validator(mode="before")
        @classmethod
        def _fit(cls, given: Any) -> Any:
            if isinstance(given, BaseModel):
                given = given.model_dump(mode="json")
            try:
                wrong = [_told(error) for error in validator.iter_errors(given)]
            except Unresolvable as error:
                raise ValueError("the schema refers to what is not in it") from error
            if wrong:
                raise ValueError("; ".join(wrong[:5]))
            return given

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return copy.deepcopy(shown)

    Arguments.__doc__ = None
    return Arguments


def _shown(schema: Mapping[str, Any], without: str | None) -> dict[str, Any]:
    shown: dict[str, Any] = copy.deepcopy(dict(schema))
    known = shown.get("properties", {})
    if without is not None:
        if without not in known:
            raise ContractError(f"the tool has no argument {without!r}; it has {sorted(known)}")
        del known[without]
        shown["required"] = [name for name in shown.get("required", []) if name != without]
    if "properties" in shown and not ELSEWHERE & shown.keys():
        shown.setdefault("additionalProperties", False)
    return {"type": "object", **shown}


def _validator(schema: dict[str, Any]) -> Any:
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise ContractError(
            f"the tool's input schema is no JSON schema: {error.message}"
        ) from error
    # An empty registry: a schema does not make a worker fetch addresses.
    return kind(schema, registry=Registry())


def _told(error: Any) -> str:
    where = ".".join(str(part) for part in error.absolute_path)
    if error.validator in ("additionalProperties", "required"):  # names, and no values
        return f"{where}: {error.message}" if where else str(error.message)
    return f"{where or 'arguments'}: does not fit {error.validator} {error.validator_value}"[:200]
