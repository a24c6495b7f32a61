"""Complaints about what was typed, in plain words."""

import textwrap
from typing import Any, Final

import typer
from typer.core import TyperGroup

from surestep.cli.page import WIDTH

ROOM: Final = WIDTH - len("Error: Invalid value for '--decision-id': ")

_PLAIN: Final = {
    "Value error, ": "",
    "Input should be a valid integer, unable to parse string as an integer": (
        "it is no whole number: give digits, such as 4"
    ),
    "Input should be a valid number, unable to parse string as a number": (
        "it is no number: give digits, such as 30"
    ),
}


def in_plain_words(complaint: str) -> str:
    """The complaint without the words of the library that checks values."""
    for words, plain in _PLAIN.items():
        complaint = complaint.replace(words, plain)
    return complaint


class Door(TyperGroup):
    """The commands; what is wrong with a value is told in plain words."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            plain = in_plain_words(error.message)
            if plain != error.message:
                error.message = textwrap.fill(plain, ROOM, break_on_hyphens=False)
            raise
