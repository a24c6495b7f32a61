"""What an agent framework has kept of a conversation: what was asked, and what it was told."""

import re
from typing import Any, Final

from surestep.value import Value

_MARK: Final = "[surestep:"
_NO_MARK: Final = "(surestep:"

MARKS: Final = re.compile(r"\[surestep: (\S+) ([a-z_]+)\]")
"""Every mark in a text: the step and the state."""


def mark(step_id: str, state: str) -> str:
    """How a reply names its step, so that the conversation itself says what it was told."""
    return f"{_MARK} {step_id} {state}]"


def unmarked(text: str) -> str:
    """The text with nothing in it that could be taken for a mark, whoever wrote it."""
    return text.replace(_MARK, _NO_MARK)


def marked(text: str) -> list[str]:
    """The ids of the steps whose marks are in the text."""
    return [step_id for step_id, _ in re.findall(MARKS, text)]


class Asked(Value):
    """One tool call of the model, by the tool's name and the arguments as the model gave them."""

    tool: str
    arguments: Any


class Conversation(Value):
    """What the model will see of earlier calls, as its framework keeps it.

    name         which conversation of the run: empty, or the sub-agent whose it is
    turn         the calls that the model makes together, this one among them
    told         what Surestep's tools have answered since the user last spoke
    told_before  what they had answered before that
    """

    name: str = ""
    turn: tuple[Asked, ...] = ()
    told: str = ""
    told_before: str = ""

    def was_told(self, step_id: str, state: str) -> bool:
        """Whether an answer in the conversation gives the step this state."""
        return self.was_told_now(step_id, state) or self.was_told_before(step_id, state)

    def was_told_now(self, step_id: str, state: str) -> bool:
        """The same, since the user last spoke."""
        return mark(step_id, state) in self.told

    def was_told_before(self, step_id: str, state: str) -> bool:
        """The same, before the user last spoke."""
        return mark(step_id, state) in self.told_before
