"""Templates: `{field}` of the arguments, `{call.key}` and `{call.receipt.id}`, filled safely."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from pydantic import BaseModel

from surestep.errors import ContractError
from surestep.http.pointer import ABSENT, at
from surestep.places import without_secrets
from surestep.tool import Call

KEY: Final = "call.key"
RECEIPT: Final = "call.receipt.id"

_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_NAME: Final = re.compile(r"[A-Za-z_][\w-]*(\.[\w-]+)*")


class Unfillable(ValueError):
    """A template cannot be filled with these arguments; the message names the placeholder."""


@dataclass(frozen=True)
class Values:
    """What a request is made from: the arguments as recorded, the call, the key as on the wire.

    recorded  with the values of secrets in place of their names
    content   without any secret: what a whole body is made of, the same in every attempt
    """

    args: BaseModel
    recorded: Mapping[str, Any]
    content: Mapping[str, Any]
    call: Call
    key: str

    @classmethod
    def of(cls, args: BaseModel, call: Call, form: Callable[[Call], str]) -> "Values":
        # Unset fields are those that a newer model added: what is sent must not change with it.
        recorded = args.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return cls(args, recorded, without_secrets(args, recorded), call, form(call))

    def get(self, name: str) -> Any:
        """The value of a placeholder. Raises Unfillable where there is none."""
        if name == KEY:
            return self.key
        if name == RECEIPT:
            value: Any = self.call.receipt.id if self.call.receipt else None
        else:
            value = at(self.recorded, "/" + name.replace(".", "/"))
        if value is None or value is ABSENT:
            raise Unfillable(f"{name}: there is no value for {{{name}}}")
        return value


def names(template: Any) -> Iterator[str]:
    """The placeholders in a text, or in the texts of a JSON template."""
    if isinstance(template, str):
        yield from _PLACEHOLDER.findall(template)
    elif isinstance(template, Mapping):
        for part in template.values():
            yield from names(part)
    elif isinstance(template, list | tuple):
        for part in template:
            yield from names(part)


def check(what: str, template: Any, fields: Iterable[str], *, receipt: bool = False) -> None:
    """Refuses placeholders that nothing will fill: ContractError with what there is."""
    known = [*fields, KEY, *([RECEIPT] if receipt else [])]
    for name in names(template):
        if not _NAME.fullmatch(name) or (name not in known and name.split(".")[0] not in fields):
            raise ContractError(f"{what}: nothing fills {{{name}}}; there is {', '.join(known)}")


def path(template: str, values: Values) -> str:
    """A path whose segments no argument can change. Raises Unfillable for one that would."""

    def segment(match: re.Match[str]) -> str:
        return _segment(match[1], _plain(match[1], values.get(match[1])))

    return _PLACEHOLDER.sub(segment, template)


def words(template: str, values: Values) -> str:
    """A text with the values as they are, for parameters and headers."""
    return _PLACEHOLDER.sub(lambda match: _plain(match[1], values.get(match[1])), template)


def header(template: str, values: Values) -> str:
    """A text for a header. Raises Unfillable for what HTTP does not allow there."""
    text = words(template, values)
    if not (text.isascii() and text.isprintable()):
        found = ", ".join(names(template)) or "a header"
        raise Unfillable(f"{found}: a header holds printable ASCII only")
    return text


def document(template: Any, values: Values) -> Any:
    """A JSON template; a text that is one placeholder takes the value with its type."""
    if isinstance(template, str):
        alone = _PLACEHOLDER.fullmatch(template)
        return values.get(alone[1]) if alone else words(template, values)
    if isinstance(template, Mapping):
        return {name: document(part, values) for name, part in template.items()}
    if isinstance(template, list | tuple):
        return [document(part, values) for part in template]
    return template


def _plain(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return json.dumps(value, allow_nan=False)
    raise Unfillable(f"{name}: a {type(value).__name__} cannot stand in a text")


def _segment(name: str, value: str) -> str:
    """Quoted, slashes too; what a server that unquotes first would read as a way up is refused."""
    parts = re.split(r"[/\\]", value)
    if value == "" or any(part in (".", "..") for part in parts):
        raise Unfillable(f"{name}: nothing, '.' or '..' cannot stand in a path")
    if any(ord(char) < 32 or ord(char) == 127 for char in value):
        raise Unfillable(f"{name}: a control character cannot stand in a path")
    return quote(value, safe="")
