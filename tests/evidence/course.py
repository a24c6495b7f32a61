"""What becomes of one action, in the simulator or in the real workflow, and whether both agree."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .executor import HORIZON, Declared, Execution
from .service import Service

NEAR: Final = 3.0  # seconds by which times may differ, and a twentieth of them


@dataclass(frozen=True)
class Story:
    """One action; `service` makes it anew for each of the two."""

    name: str
    service: Callable[[], Service]
    declared: Declared


@dataclass
class Course:
    """What became of it, in seconds since its first call."""

    state: str
    rows: int
    requests: list[float]
    asked: bool
    answered: bool
    ended: float

    def agrees(self, other: "Course") -> bool:
        """The same end, by the same number of requests and the same questions."""
        same = (self.state, self.rows, self.asked, self.answered, len(self.requests))
        return same == (
            other.state, other.rows, other.asked, other.answered, len(other.requests)
        )  # fmt: skip

    def in_step(self, other: "Course") -> bool:
        """At the same times as well."""
        times = zip([*self.requests, self.ended], [*other.requests, other.ended], strict=True)
        return all(abs(one - two) <= NEAR + 0.05 * max(one, two) for one, two in times)


def simulated(story: Story) -> Course:
    run = Execution(story.service(), story.declared)
    told = run.run()
    asked, answered = told.asked is not None, told.answered is not None
    sent = run.service.requests
    run.service.advance(HORIZON)
    return Course(told.state, len(run.service.rows), sent, asked, answered, told.at)
