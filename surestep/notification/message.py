"""What people are told, as text and as JSON. Pure; nothing but the order passes through here."""

import json
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from surestep.decision import Verdict
from surestep.narrative import when
from surestep.questions import NotifyOrder, Occasion

TEXT_LIMIT: Final = 200
"""Characters of a text that is not ours: a subject line and a chat should hold it."""

# Chats read <…> as a link or as a call to everybody.
_PLAIN: Final = str.maketrans("<>", "()")


@dataclass(frozen=True)
class Message:
    """One message. `link`: the step's page in the Web UI, where that is known."""

    order: NotifyOrder
    link: str | None = None

    @property
    def id(self) -> str:
        """The same for every repetition of this message."""
        return self.order.id

    @cached_property
    def subject(self) -> str:
        """One line; an argument that is part of it cannot break it."""
        match self.order.occasion:
            case Occasion.ANOMALY:
                return f"Surestep: an anomaly of {self._what}"
            case Occasion.OVERDUE:
                if self.order.decided:
                    return f"Surestep: what was decided about {self._what} is not done"
                return f"Surestep: nobody has answered about {self._what}"
            case Occasion.QUESTION if self._asks_approval:
                return f"Surestep: {self._what} needs approval"
            case Occasion.QUESTION:
                return f"Surestep: {self._what} is {self.order.state}"

    @property
    def show(self) -> str:
        return f"python starter.py show {self.order.step_id}"

    @property
    def unresolved(self) -> str:
        return "python starter.py unresolved"

    @cached_property
    def text(self) -> str:
        """What happened, why, since when, and where to go on."""
        rows = [
            ("Why", one_line(self.order.why)),
            ("Since", when(self.order.since)),
            ("Step", self.order.step_id),
            ("Action", self.order.action),
            ("Run", self.order.run_id),
            ("Accepted", ", ".join(self.order.verdicts)),
        ]
        lines = [f"{label + ':':<10}{text}" for label, text in rows if text]
        ways = [("Look at it", self.show), ("All of them", self.unresolved)]
        if self.link:
            ways.append(("Web UI", self.link))
        more = [f"{label + ':':<13}{way}" for label, way in ways]
        return "\n".join([self._happened, "", *lines, "", *more]) + "\n"

    @cached_property
    def document(self) -> dict[str, Any]:
        """The JSON object that webhooks and commands get; fields are added, never changed."""
        order = self.order
        return {
            "id": order.id,
            "occasion": order.occasion.value,
            "subject": self.subject,
            "text": f"{self.subject}\n\n{self.text}",
            "step_id": order.step_id,
            "run_id": order.run_id,
            "action": order.action,
            "tool": order.tool,
            "state": order.state,
            "recognised": one_line(order.recognised),
            "why": one_line(order.why),
            "since": order.since.isoformat(),
            "verdicts": list(order.verdicts),
            "link": self.link,
            "show": self.show,
            "unresolved": self.unresolved,
        }

    @cached_property
    def body(self) -> bytes:
        return json.dumps(self.document).encode()

    @property
    def _what(self) -> str:
        recognised = one_line(self.order.recognised)
        return f"{self.order.tool} of {recognised}" if recognised else self.order.tool

    @property
    def _asks_approval(self) -> bool:
        return Verdict.APPROVE in self.order.verdicts

    @property
    def _happened(self) -> str:
        match self.order.occasion:
            case Occasion.ANOMALY:
                return f"What is known of {self._what} is contradicted. Somebody must see to it."
            case Occasion.OVERDUE if self.order.decided:
                return (
                    f"{one_line(self.order.decided)}, and that is not carried out yet: a look at "
                    f"the service comes first, and {self._what} stays as it is until one succeeds."
                )
            case Occasion.OVERDUE:
                return (
                    f"{self._what} still waits for an answer, and nobody gave one. It stays as it "
                    "is: it is neither repeated nor given up by itself."
                )
            case Occasion.QUESTION if self._asks_approval:
                return f"{self._what} waits. It is not sent before somebody approves it."
            case Occasion.QUESTION:
                return (
                    f"{self._what} is {self.order.state}, and only a person can settle it. "
                    "Do not repeat it by hand or by a new step before it is known what happened."
                )


def one_line(text: str) -> str:
    """Text that is not ours, as one bounded line without markup and invisible characters."""
    shown = "".join(
        char if not unicodedata.category(char).startswith("C") else " " for char in text
    )
    line = " ".join(shown.translate(_PLAIN).split())
    return line if len(line) <= TEXT_LIMIT else f"{line[: TEXT_LIMIT - 1]}…"
