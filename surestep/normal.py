"""Arguments in their normal form: the JSON object that is recorded, hashed and sent. Pure."""

from typing import Any

from pydantic import BaseModel, ValidationError

from surestep.errors import InvalidArguments, describe_validation
from surestep.identity import STEP_INPUT_LIMIT, canonical, check_plain


def normalised(
    tool: str, model: type[BaseModel], sensitive: frozenset[str], arguments: Any
) -> tuple[BaseModel, dict[str, Any]]:
    """The arguments as the model, and as they are recorded.

    sensitive  the fields of which no value may be repeated

    Raises InvalidArguments for what does not fit, has no JSON form, or would not come back.
    """
    try:
        return _normalised(tool, model, sensitive, arguments)
    except ValidationError as error:
        why = describe_validation(error, sensitive)
        raise InvalidArguments(f"tool {tool!r}: {why}") from None
    except InvalidArguments as error:
        raise InvalidArguments(f"tool {tool!r}: {error}") from None
    except RecursionError:
        raise InvalidArguments(f"tool {tool!r}: nested too deeply") from None
    except ValueError as error:  # pydantic could not serialise, or JSON cannot hold it
        why = type(error).__name__ if sensitive else str(error)
        raise InvalidArguments(f"tool {tool!r}: not JSON: {why}") from None


def _normalised(
    tool: str, kind: type[BaseModel], sensitive: frozenset[str], arguments: Any
) -> tuple[BaseModel, dict[str, Any]]:
    model = kind.model_validate(arguments)
    check_plain(model.model_dump(by_alias=True))
    normal = model.model_dump(mode="json", by_alias=True)
    back = loaded(tool, kind, sensitive, normal)
    if back != model:
        fields = type(model).model_fields
        lost = [name for name in fields if getattr(back, name) != getattr(model, name)]
        raise InvalidArguments(
            f"{', '.join(lost) or 'the arguments'} would not come back from the record as "
            "given: the field is excluded, or is read under another alias than it is written"
        )
    size = len(canonical(normal).encode())
    if size > STEP_INPUT_LIMIT:
        raise InvalidArguments(
            f"arguments of {size} bytes are over the limit of {STEP_INPUT_LIMIT}: pass a "
            "reference to the content instead"
        )
    return model, normal


def loaded(
    tool: str, model: type[BaseModel], sensitive: frozenset[str], arguments: dict[str, Any]
) -> Any:
    """The argument model from its recorded form. Raises InvalidArguments."""
    try:
        return model.model_validate_json(canonical(arguments))
    except ValidationError as error:
        why = describe_validation(error, sensitive)
        raise InvalidArguments(
            f"the recorded arguments do not fit tool {tool!r} as it is now: {why}"
        ) from None
