"""Values that nobody else has, planted in a step, and the search for them."""

import base64
import json
from collections.abc import Iterator
from functools import cache
from urllib.parse import quote
from uuid import uuid4

from google.protobuf.message import Message


class Canaries:
    """A set of planted values: `secrets` may be nowhere, `personal` only where they are needed.

    `control` is in an argument without a mark: the search must find it.
    """

    def __init__(self) -> None:
        sign = uuid4().hex[:12]
        self.token = f"tok-{sign}-Sec/ret+1"
        self.credential = f"cred{''.join(chr(ord('a') + int(c, 16)) for c in sign)}"
        self.email = f"ada.{sign}@Example.org"
        self.name = f"Zoë {sign.upper()} O'Hara"
        self.control = f"control-{uuid4().hex[:12]}"

    @property
    def secrets(self) -> tuple[str, ...]:
        return self.token, self.credential

    @property
    def personal(self) -> tuple[str, ...]:
        return self.email, self.name

    def found(self, text: str | bytes, *, among: tuple[str, ...]) -> list[str]:
        """Those that stand in the text, in whatever form they are written."""
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        low = text.lower()
        return [one for one in among if any(form in low for form in forms(one))]


@cache
def forms(value: str) -> frozenset[str]:
    """How it may be written, in small letters."""
    plain = base64.b64encode(value.encode()).decode().rstrip("=")
    written = {
        value,
        json.dumps(value)[1:-1],
        repr(value)[1:-1],
        quote(value),
        quote(value, safe=""),
        plain[:-1],
        base64.b64encode(b"u:" + value.encode()).decode().rstrip("=")[3:-1],
        value.encode().hex(),
        value.split()[0][:10] if "@" in value else value,  # a part of it, as where it was cut
    }
    return frozenset(form.lower() for form in written)


def leaves(message: Message, path: str = "") -> Iterator[tuple[str, bytes]]:
    """Every text and every payload of a Protobuf message, with the way to it."""
    for field, value in message.ListFields():
        here = f"{path}.{field.name}" if path else field.name
        mapping = field.message_type and field.message_type.GetOptions().map_entry
        values = value.items() if mapping else value if field.is_repeated else [value]
        for one in values:
            key, one = one if mapping else (None, one)
            if key is not None:
                yield f"{here}.key", str(key).encode()
            if isinstance(one, Message):
                yield from leaves(one, here)
            elif isinstance(one, str | bytes):
                yield here, one if isinstance(one, bytes) else one.encode()


def without(value: object, names: frozenset[str]) -> object:
    """JSON without the fields of these names."""
    if isinstance(value, dict):
        return {key: without(item, names) for key, item in value.items() if key not in names}
    return [without(item, names) for item in value] if isinstance(value, list) else value
