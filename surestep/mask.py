"""The mask: what stands in a text where a secret or personal value would stand. Pure."""

import base64
import html
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import quote, quote_plus

MASK: Final = "***"
"""One for all values: a hash of a few thousand possible values would name the value."""

RUN: Final = 12
"""Characters in a row that a text may not share with a value: it may have been cut off."""

WORDS_OF: Final = 80
"""Characters of a value whose telling words are masked also alone: a name, an address."""

_WORD: Final = 4
_BYTES: Final = 6  # fewer say too little in base64 to be told from anything else


class Mask:
    """Hides values in texts, also as JSON, URLs, HTML, base64 and Python write them.

    A value of one character, `null`, `true` and `false` say nothing, and are left.
    """

    def __init__(self, values: Iterable[Any] = ()) -> None:
        texts = list(_texts(values))
        self._whole = sorted({form for text in texts for form in _forms(text)})
        words = {word for text in texts if len(text) <= WORDS_OF for word in text.split()}
        parts = {form for word in words if _tells(word) for form in _forms(word)}
        self._forms = sorted({*self._whole, *parts})

    def __bool__(self) -> bool:
        return bool(self._forms)

    def finds(self, text: str) -> bool:
        """Whether a whole value stands in the text; for ids, which are no place for any."""
        low = _lowered(text)
        return any(True for form in self._whole for _ in _exactly(low, form))

    def text(self, text: str) -> str:
        """The text with every value masked."""
        if not self._forms:
            return text
        low = _lowered(text)
        hidden = bytearray(len(text))
        for form in self._forms:
            for start, end in _found(low, form):
                hidden[start:end] = b"\1" * (end - start)
        return _rendered(text, hidden) if any(hidden) else text

    def within(self, value: Any) -> Any:
        """JSON, or what `model_dump` gives, with every value masked in its texts and keys."""
        if not self._forms:
            return value
        if type(value) is str:  # an enumeration's member is a word of ours
            return self.text(value)
        if isinstance(value, dict):
            return {self.within(key): self.within(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.within(item) for item in value)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return MASK if number and json.dumps(value) in self._forms else value


def _texts(values: Iterable[Any]) -> Iterator[str]:
    """The texts of JSON values, however deep they stand."""
    for value in values:
        match value:
            case None | bool():
                continue
            case dict():
                yield from _texts(value.values())
            case list() | tuple():
                yield from _texts(value)
            case str():
                yield value
            case _:
                yield json.dumps(value)


def _tells(word: str) -> bool:
    """Whether one word of a value names it: part of a name, a number."""
    return len(word) >= _WORD and (word[0].isupper() or any(char.isdigit() for char in word))


def _forms(value: str) -> Iterator[str]:
    """The value as it may be written, in small letters."""
    if len(value) < 2:
        return
    try:
        plain = value.encode()
    except UnicodeEncodeError:
        return
    written = {
        value,
        value.strip(),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        repr(value)[1:-1],
        html.escape(value),
        quote(value),
        quote(value, safe=""),
        quote_plus(value),
    }
    if len(plain) >= _BYTES:
        written |= {plain.hex(), *_in_base64(plain)}
    yield from (_lowered(form) for form in written if len(form) >= 2)


def _in_base64(plain: bytes) -> Iterator[str]:
    """What of the base64 does not depend on what stands before and behind, such as `user:`."""
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + plain).decode()
        core = whole[(0, 2, 3)[before] :]
        if padding := whole.count("="):
            core = core[: -padding - 1]
        yield from (core, core.replace("+", "-").replace("/", "_"))


def _found(text: str, form: str) -> Iterator[tuple[int, int]]:
    return _runs(text, form) if len(form) > RUN else _exactly(text, form)


def _exactly(text: str, form: str) -> Iterator[tuple[int, int]]:
    """Where it stands; what is short, or a number, only where nothing of its kind adjoins."""
    alone = len(form) < _WORD or form.isdigit()
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        if not alone or not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()):
            yield start, end
        start = text.find(form, start + 1)


def _runs(text: str, form: str) -> Iterator[tuple[int, int]]:
    """What the text shares with the form, if it is long enough to say something."""
    for start in range(len(text) - RUN + 1):
        if text[start : start + RUN] in form:
            yield start, start + RUN


def _rendered(text: str, hidden: bytearray) -> str:
    parts, before = [], 0
    for char, mark in zip(text, hidden, strict=True):
        if not mark:
            parts.append(char)
        elif not before:
            parts.append(MASK)
        before = mark
    return "".join(parts)


def _lowered(text: str) -> str:
    low = text.lower()
    return low if len(low) == len(text) else text
