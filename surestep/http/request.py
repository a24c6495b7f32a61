"""A request as the author declares it, and as it is rendered for one call."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import quote, urlencode

from surestep.errors import ContractError
from surestep.http import pointer, template
from surestep.http.template import Values
from surestep.tool import Call


class _Arguments:
    def __repr__(self) -> str:
        return "ARGUMENTS"


ARGUMENTS: Final = _Arguments()
"""As a body: the arguments, as they are recorded. Secrets are left out: a template names them."""

_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


@dataclass(frozen=True)
class Key:
    """Where our key stands in a request, byte for byte the same in every attempt.

    header  name of the header; None: in no header
    field   JSON pointer into the body, such as "/metadata/action"; None: not in the body
    form    the key as this service wants it: `lambda call: call.uuid`, `call.token(32)`; must
            not depend on anything but `call.action_id`
    """

    header: str | None = "Idempotency-Key"
    field: str | None = None
    form: Callable[[Call], str] = lambda call: call.action_id

    def __post_init__(self) -> None:
        pointer.check("Key(field=…)", self.field)
        if self.field == "":
            raise ContractError("Key(field=''): the key cannot replace the whole body")


@dataclass(frozen=True)
class Rendered:
    """A request without address and credentials.

    `target` is path and query, quoted; below the base URL, or `from_origin`, as links give it.
    """

    method: str
    target: str
    headers: Mapping[str, str]
    content: bytes | None
    from_origin: bool = False


@dataclass(frozen=True)
class Request:
    """One request of a tool. `{field}`, `{call.key}`, `{call.receipt.id}` are filled in.

    method    POST, GET, …
    path      begins with "/" and stands below the service's base URL; what is filled in is quoted,
              so that no argument can change which resource is meant
    params    the query; values are templates
    body      ARGUMENTS; a JSON template, in which a text that is one placeholder keeps the type of
              its value; a function of (arguments, call); None. Default: ARGUMENTS where the method
              has a body
    headers   values are templates; credentials belong to the Service
    encoding  "form" sends nested fields as `a[b]=c`

    Keys of the body are sorted: a deploy that reorders or adds fields of the argument model does
    not change what an action in flight sends.
    """

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    body: Any = ...
    headers: Mapping[str, str] = field(default_factory=dict)
    encoding: Literal["json", "form"] = "json"

    def __post_init__(self) -> None:
        if not self.path.startswith("/") or self.path.startswith("//"):
            raise ContractError(f"path {self.path!r} must begin with one '/'")
        if "?" in self.path or "#" in self.path:
            raise ContractError(f"path {self.path!r}: a query belongs into params")
        if self.body is ...:
            default = ARGUMENTS if self.method.upper() in _WITH_BODY else None
            object.__setattr__(self, "body", default)

    def check(self, what: str, fields: Iterable[str], *, receipt: bool = False) -> None:
        """Refuses placeholders that nothing fills: ContractError."""
        body = None if callable(self.body) else self.body
        for part in (self.path, self.params, self.headers, body):
            template.check(what, part, fields, receipt=receipt)

    def render(self, values: Values, key: Key | None = None) -> Rendered:
        """The request for one call, with our key in it.

        Raises ValueError (Unfillable names the placeholder), TypeError, or what a body function
        raises: nothing has been sent then.
        """
        target, headers = self.head(values)
        content = self._content(values, key)
        if content is not None:
            form = self.encoding == "form"
            kind = "application/x-www-form-urlencoded" if form else "application/json"
            headers = {"Content-Type": kind, **headers}
        if key is not None and key.header is not None:
            headers[key.header] = values.key
        return Rendered(self.method.upper(), target, headers, content)

    def head(self, values: Values) -> tuple[str, dict[str, str]]:
        """Path and query, and the headers without the key. Raises Unfillable."""
        headers = {name: template.header(text, values) for name, text in self.headers.items()}
        path = template.path(self.path, values)
        params = {name: template.words(text, values) for name, text in self.params.items()}
        return f"{path}?{urlencode(params, quote_via=quote)}" if params else path, headers

    def _content(self, values: Values, key: Key | None) -> bytes | None:
        document = self._document(values)
        if key is not None and key.field is not None:
            document = _with(document, key.field, values.key)
        if document is None:
            return None
        if self.encoding == "form":
            return urlencode(list(_flat("", document))).encode()
        return json.dumps(document, allow_nan=False, sort_keys=True).encode()

    def _document(self, values: Values) -> Any:
        if self.body is ARGUMENTS:
            return dict(values.content)
        if callable(self.body):
            return self.body(values.args, values.call)
        return template.document(self.body, values)


def _with(document: Any, place: str, value: str) -> Any:
    """The document with a value at the place; objects on the way are made where missing."""
    name, _, rest = place[1:].partition("/")
    if document is not None and not isinstance(document, Mapping):
        raise TypeError(f"the key cannot be put at {place}: there is no object")
    inner = (document or {}).get(name)
    return {**(document or {}), name: _with(inner, f"/{rest}", value) if rest else value}


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, str]]:
    match value:
        case Mapping():
            for name in sorted(value):
                yield from _flat(f"{prefix}[{name}]" if prefix else name, value[name])
        case list() | tuple():
            for index, item in enumerate(value):
                yield from _flat(f"{prefix}[{index}]", item)
        case None:
            return
        case str():
            yield prefix, value
        case _:
            yield prefix, json.dumps(value, allow_nan=False)
