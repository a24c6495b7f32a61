"""One action of an agent run, and what is known of it in the end."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final, Self

from surestep.agents.conversation import unmarked
from surestep.evidence import State
from surestep.facts import Anomaly
from surestep.identity import UNDO
from surestep.outcome import Outcome
from surestep.value import Value


class Standing(StrEnum):
    """What became of an action, as far as the records say."""

    DONE = "done"
    UNDONE = "undone"
    REFUSED = "refused"  # by the service, which applied nothing
    WITHOUT_EFFECT = "without effect"  # nothing happened, and nothing will
    OPEN = "open"  # it is still being settled, or waits for a person
    UNKNOWN = "unknown"  # nobody looks any more, and it may have happened


SETTLED: Final = {
    State.CONFIRMED: Standing.DONE,
    State.COMPENSATED: Standing.UNDONE,
    State.REJECTED: Standing.REFUSED,
    State.NOT_FOUND: Standing.WITHOUT_EFFECT,
}

_UNDO_IN_DOUBT: Final = "it happened; whether its undo did is not known"

_MAY_EXIST: Final = (Standing.DONE, Standing.UNDONE, Standing.OPEN, Standing.UNKNOWN)


class Deed(Value):
    """An action of the run.

    about      the argument by which a person knows it; empty: its tool names none
    state      as in the record; `stopped`: its step was ended from outside
    effect     it changes something in the world; False: it only reads
    receipt_id  the service's own id of the effect
    anomalies  what contradicts the record, also what was found after the step had ended
    """

    step_id: str
    action_id: str
    tool: str
    about: str = ""
    standing: Standing
    state: str
    why: str = ""
    effect: bool = True
    receipt_id: str | None = None
    anomalies: tuple[Anomaly, ...] = ()

    @property
    def may_exist(self) -> bool:
        """Whether something in the world was changed, or may have been."""
        return self.effect and (self.standing in _MAY_EXIST or bool(self.anomalies))

    def whose_undo_is(self, undo: Standing) -> Self:
        """The same deed, seen with what became of the attempt to undo it."""
        if self.standing is not Standing.DONE:
            return self
        match undo:
            case Standing.DONE:
                return self.model_copy(update={"standing": Standing.UNDONE, "why": ""})
            case Standing.OPEN | Standing.UNKNOWN:
                return self.model_copy(update={"standing": undo, "why": _UNDO_IN_DOUBT})
            case _:
                return self

    @property
    def line(self) -> str:
        """The deed in one line; in a statement, exactly this line is known to be right."""
        about = f" {self.about}" if self.about else ""
        named = f", id {self.receipt_id}" if self.receipt_id else ""
        why = f" ({self.why})" if self.why and self.standing is not Standing.DONE else ""
        line = f"{self.tool}{about}: {self.standing}{named}{why}. Action {self.action_id}"
        return " ".join(unmarked(line).split())


def deed_of(step_id: str, outcome: Outcome, later: Iterable[Anomaly] = ()) -> Deed:
    """The deed that an outcome stands for. `later`: anomalies that came to light after it."""
    known = tuple(dict.fromkeys((*outcome.anomalies, *later)))
    open_now = Standing.UNKNOWN if outcome.ended else Standing.OPEN
    return Deed(
        step_id=step_id,
        action_id=outcome.action_id,
        tool=outcome.tool,
        standing=SETTLED.get(outcome.state, open_now),
        state=outcome.state.value,
        why=outcome.why,
        receipt_id=outcome.receipt.id if outcome.receipt else None,
        anomalies=known,
    )


def folded(deeds: Iterable[Deed]) -> list[Deed]:
    """The deeds without their undos, which show in what they undid."""
    found = {one.action_id: one for one in deeds}
    for undo in list(found.values()):
        undone = found.get(undo.action_id.removesuffix(f"/{UNDO}"), undo)
        if undone.action_id != undo.action_id:
            del found[undo.action_id]
            seen = undone.whose_undo_is(undo.standing)
            anomalies = (*undone.anomalies, *undo.anomalies)
            found[seen.action_id] = seen.model_copy(update={"anomalies": anomalies})
    return list(found.values())
