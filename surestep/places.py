"""Where marked arguments stand: found, replaced by their values, and masked. Pure."""

import types
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel

from surestep.mask import MASK
from surestep.sensitive import Personal, Secret, opened, whole, written

M = TypeVar("M", bound=BaseModel)


class Revealed(str):
    """The value of a secret, for the tool's code; whoever prints its arguments prints the mask."""

    name: str

    def __new__(cls, value: str, *, name: str) -> "Revealed":
        new = super().__new__(cls, value)
        new.name = name
        return new

    def __repr__(self) -> str:
        return repr(MASK)


@dataclass(frozen=True)
class Place:
    """Where a marked value stands: `path` in the recorded form, `steps` in the model."""

    mark: Secret | Personal
    path: tuple[str | int, ...]
    steps: tuple[str | int, ...]
    value: Any


def places(model: BaseModel) -> Iterator[Place]:
    """Every marked value of these arguments; nothing that is `None`."""
    return _of_model(model, (), ())


def replaced(model: M, place: Place, value: Any) -> M:
    """A copy of the model with another value at the place."""
    copy: M = _with(model, place.steps, value)
    return copy


def patterns(found: Sequence[Place]) -> tuple[str, ...]:
    """The paths of personal values as texts; `*` stands for every item of a list or mapping."""
    personal = (place for place in found if isinstance(place.mark, Personal))
    return tuple(dict.fromkeys("/".join(map(_step, place.path)) for place in personal))


def matching(arguments: Any, pattern: str) -> Iterator[Any]:
    """The values at a path that `patterns` gave."""
    name, _, rest = pattern.partition("/")
    for key, item in _items(arguments):
        if name == "*" or key == name:
            if rest:
                yield from matching(item, rest)
            else:
                yield item


def masked(arguments: Any, pattern: str) -> Any:
    """The arguments with the mask at a path that `patterns` gave."""
    name, _, rest = pattern.partition("/")
    changed = [
        (key, (masked(item, rest) if rest else MASK) if name in ("*", key) else item)
        for key, item in _items(arguments)
    ]
    if isinstance(arguments, Mapping):
        return dict(changed)
    return [item for _, item in changed] if changed else arguments


def as_recorded(model: BaseModel) -> dict[str, Any]:
    """Arguments as they were recorded: names in place of secrets, no field that was not there."""
    for one in list(places(model)):
        if isinstance(one.value, Revealed):
            model = replaced(model, one, one.value.name)
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def without_secrets(model: BaseModel, plain: dict[str, Any]) -> dict[str, Any]:
    """The model's plain form, without the secret fields."""
    secret = [one.path for one in places(model) if isinstance(one.mark, Secret)]
    plain = deepcopy(plain) if secret else plain
    for *way, last in secret:
        holder = value_at(plain, way)
        if isinstance(holder, dict):
            holder.pop(last, None)
    return plain


def value_at(plain: Any, path: Sequence[str | int]) -> Any:
    """What stands there in the recorded form; None: nothing does."""
    for step in path:
        try:
            plain = plain[step]
        except (LookupError, TypeError):
            return None
    return plain


def _of_model(
    model: BaseModel, path: tuple[str | int, ...], steps: tuple[str | int, ...]
) -> Iterator[Place]:
    for name, recorded, annotation in _fields(type(model)):
        here = (*path, recorded), (*steps, name)
        yield from _within(annotation, getattr(model, name), *here)


@cache
def _fields(model: type[BaseModel]) -> tuple[tuple[str, str, Any], ...]:
    """Of each field its name, its name in the record, and its annotation as it was written."""
    fields = model.model_fields.items()
    return tuple((name, written(name, info), whole(info)) for name, info in fields)


def _within(
    annotation: Any, value: Any, path: tuple[str | int, ...], steps: tuple[str | int, ...]
) -> Iterator[Place]:
    annotation, mark = opened(annotation)
    if value is None:
        return
    if mark:
        yield Place(mark, path, steps, value)
    elif isinstance(value, BaseModel):
        yield from _of_model(value, path, steps)
    elif get_origin(annotation) in (Union, types.UnionType):
        arms = (place for arm in get_args(annotation) for place in _within(arm, value, path, steps))
        yield from {place.path: place for place in arms}.values()
    elif isinstance(value, Mapping | list | tuple):
        kinds = get_args(annotation)[-1:] if isinstance(value, Mapping) else get_args(annotation)
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            for kind in kinds or (None,):
                yield from _within(kind, item, (*path, key), (*steps, key))


def _step(step: str | int) -> str:
    return "*" if isinstance(step, int) or "/" in step else step


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from ((str(index), item) for index, item in enumerate(value))


def _with(value: Any, steps: tuple[Any, ...], new: Any) -> Any:
    if not steps:
        return new
    step, *rest = steps
    if isinstance(value, BaseModel):
        copy = value.model_copy()
        # Past the validators, which speak of the name, and without calling an unset field set.
        copy.__dict__[step] = _with(copy.__dict__[step], tuple(rest), new)
        return copy
    if isinstance(value, Mapping):
        return {**value, step: _with(value[step], tuple(rest), new)}
    changed = list(value)
    changed[step] = _with(changed[step], tuple(rest), new)
    return type(value)(changed)
