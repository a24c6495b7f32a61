"""An exception as a log may tell of it: its classes and where they were raised, not its words.

A tool's exception can quote arguments, secrets and what a service answered, and so can what it was
raised from, its notes, and the members of a group.
"""

import logging
import traceback
from collections.abc import Iterator

from surestep.errors import Ambiguous, Definite

OWN: tuple[str, ...] = ("surestep.", "workflows.", "temporalio.")
"""Modules whose exceptions are in words that hold no argument."""


def without_words(line: logging.LogRecord) -> bool:
    """A filter: takes the words of foreign exceptions out of the line, and lets every line pass."""
    if line.name == "asyncio":  # it writes whole tasks, with their exceptions
        line.msg = line.getMessage().partition("\n")[0].partition(" exception=")[0]
        line.args = ()
    if isinstance(line.exc_info, tuple) and (error := line.exc_info[1]) is not None:
        line.exc_text, line.exc_info = "".join(_told(error, set())).rstrip("\n"), None
    return True


def _told(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and id(before) not in seen:
        yield from _told(before, seen)
        yield "which led to\n"
    yield from traceback.format_tb(error.__traceback__)
    yield f"{_named(error)}\n"
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            if id(one) not in seen:
                yield "with\n"
                yield from _told(one, seen)


def _named(error: BaseException) -> str:
    kind = type(error)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    # Those a tool raises, and their words are the tool's.
    ours = name.startswith(OWN) and not isinstance(error, Definite | Ambiguous)
    return f"{name}: {error}" if ours and str(error) else name
