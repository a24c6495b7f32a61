"""Arguments that are marked: a secret one is named and never recorded, a personal one is masked."""

import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin
from typing import get_type_hints as hints_of

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from surestep.errors import ContractError

PLAIN_NAME: Final = r"[A-Za-z](?:[._-]?[A-Za-z0-9]){0,63}"
_VALUES: Final = re.compile(  # what nobody calls a secret: a long token, a UUID
    r"(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE
)


class Secret:
    """Marks an argument as the *name* of a secret: `token: Annotated[str, Secret()]`.

    names  the only ones that are accepted; without any, every plain name such as `billing-token`

    The name is recorded, hashed and compared. The worker puts the value in its place right before
    it calls the tool's code. Give the names where a model chooses the arguments: it could otherwise
    hand any secret of the worker to the service.
    """

    def __init__(self, *names: str) -> None:
        self.names = names
        for name in names:
            if not re.fullmatch(PLAIN_NAME, name):
                raise ContractError(f"Secret({name!r}): a name is like 'billing-token'")

    def __repr__(self) -> str:
        return f"Secret({', '.join(map(repr, self.names))})"

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        found = handler(schema)
        if found.get("type") == "string":
            only = {"enum": list(self.names)} if self.names else {"pattern": f"^{PLAIN_NAME}$"}
            found = {"description": "The name of a secret, not its value.", **found, **only}
        return found

    def _checked(self, value: Any) -> Any:
        if value is None:
            return value
        if self.names and value not in self.names:
            kind, words = "secret_name", f"must be {' or '.join(self.names)}, the name of a secret"
        elif not re.fullmatch(PLAIN_NAME, value) or _VALUES.search(value):
            kind, words = (
                "secret_name",
                (
                    "must be the name of a secret, such as billing-token, never its value: put the "
                    "value into a file of that name in the worker's SURESTEP_SECRETS"
                ),
            )
        else:
            return value
        raise PydanticCustomError(kind, words)


class Personal:
    """Marks an argument as personal: `email: Annotated[str, Personal()]`.

    It is recorded, because the tool needs it, and stands nowhere else: where a person or a machine
    reads, the mask stands in its place.
    """

    def __repr__(self) -> str:
        return "Personal()"


def sensitive_fields(model: type[BaseModel]) -> frozenset[str]:
    """The names of the fields that are marked or hold what is, each as it is read and written.

    Raises ContractError for marks that could not be kept.
    """
    found = set[str]()
    for name, info in model.model_fields.items():
        if any(True for _ in _marks(whole(info), name, set())):
            found |= {name, written(name, info)}
            aliases = (info.alias, info.validation_alias)
            found |= {alias for alias in aliases if isinstance(alias, str)}
    return frozenset(found)


def opened(annotation: Any) -> tuple[Any, Secret | Personal | None]:
    """What is annotated, and its mark."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *metadata = get_args(annotation)
            for one in metadata:
                if isinstance(one, Secret | Personal):
                    return annotation, one
        elif type(annotation).__name__ == "TypeAliasType":
            annotation = annotation.__value__
        else:
            return annotation, None


def _marks(annotation: Any, where: str, seen: set[Any]) -> Iterator[Secret | Personal]:
    """The marks in a type. Raises ContractError."""
    metadata = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    marks = [one for one in metadata if isinstance(one, Secret | Personal)]
    if any(one in (Secret, Personal) for one in metadata):
        raise ContractError(f"{where}: write the mark with brackets, Secret() or Personal()")
    if len(marks) > 1:
        raise ContractError(f"{where}: one mark is enough; what is Secret is never shown at all")
    inner, mark = opened(annotation)
    if isinstance(mark, Secret) and not _is_of_texts(inner):
        raise ContractError(f"{where}: Secret marks the name of a secret, so it must be a str")
    if mark:
        yield mark
    elif isinstance(inner, type) and issubclass(inner, BaseModel):
        if inner not in seen:
            seen.add(inner)
            for name, info in inner.model_fields.items():
                yield from _marks(whole(info), f"{where}.{name}", seen)
    elif get_args(inner):
        key, *others = get_args(inner)
        mapping = isinstance(get_origin(inner), type) and issubclass(get_origin(inner), Mapping)
        if mapping and any(True for _ in _marks(key, where, seen)):
            raise ContractError(f"{where}: the keys of a mapping cannot be marked, its values can")
        for part in others if mapping else (key, *others):
            yield from _marks(part, where, seen)
    elif _has_hints(inner) and inner not in seen:
        seen.add(inner)
        for name, hint in hints_of(inner, include_extras=True).items():
            if any(True for _ in _marks(hint, f"{where}.{name}", seen)):
                raise ContractError(
                    f"{where}.{name}: only fields of pydantic models can be marked; make "
                    f"{inner.__name__} a BaseModel"
                )


def _has_hints(kind: Any) -> bool:
    """Whether pydantic reads the fields of it, and could drop what they are marked with."""
    plain = isinstance(kind, type) and (hasattr(kind, "__total__") or hasattr(kind, "_fields"))
    return plain or is_dataclass(kind)


def _is_of_texts(annotation: Any) -> bool:
    if get_origin(annotation) in (Union, types.UnionType):
        return all(_is_of_texts(arm) for arm in get_args(annotation))
    if get_origin(annotation) is Literal:
        return all(isinstance(word, str) for word in get_args(annotation))
    return annotation in (str, types.NoneType) or _is_of_texts_below(annotation)


def _is_of_texts_below(annotation: Any) -> bool:
    inner, mark = opened(annotation)
    return mark is None and inner is not annotation and _is_of_texts(inner)


def whole(info: FieldInfo) -> Any:
    """The annotation as it was written."""
    return Annotated[(info.annotation, *info.metadata, None)]


def written(name: str, info: FieldInfo) -> str:
    """The name of a field as it is recorded."""
    return info.serialization_alias or info.alias or name
