"""What a model says at the end of a run that it did, held against what is recorded.

Nothing wrong is ever called right: what cannot be compared is not checkable.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from surestep.agents.conversation import MARKS
from surestep.agents.deed import Deed, Standing
from surestep.agents.reply import PENDING
from surestep.agents.report import Report
from surestep.value import Value


class Became(StrEnum):
    """What the model says became of an action."""

    DONE = "done"
    NOT_DONE = "not_done"
    UNDONE = "undone"
    OPEN = "open"


class Claim(BaseModel):
    """One action that you say you did, or did not do. Say it once for each action."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    became: Became = Field(description="what became of it; open: it is not known yet")
    tool: str = Field(default="", description="the name of the tool")
    about: str = Field(default="", description="what it was about, as the order that was refunded")
    step_id: str = Field(default="", description="the step, if an answer named it")
    receipt_id: str = Field(default="", description="the id that the service gave, if it did")


class ClosingStatement(BaseModel):
    """Every action that you took for the user, and every one that you tried to take.

    message  for the user. Its words cannot be checked: leave it empty where the claims are enough
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    claims: list[Claim]
    message: str = ""


class Judgement(StrEnum):
    RIGHT = "right"
    NOT_CHECKABLE = "not checkable"
    WRONG = "wrong"


class ClaimCheck(Value):
    """What one claim, or one line of a text, comes to. `action_id`: the action that it is about."""

    said: str
    judgement: Judgement
    why: str = ""
    action_id: str | None = None


class StatementCheck(Value):
    """A statement beside the ledger. `judgement` is right only if everything is.

    unclaimed  effects, certain or possible, that no claim is about, and no quoted line
    notes      what may be missing in the report, and so cannot be held against the statement
    """

    judgement: Judgement
    checks: tuple[ClaimCheck, ...]
    unclaimed: tuple[Deed, ...]
    notes: tuple[str, ...] = ()

    @property
    def unfounded(self) -> tuple[ClaimCheck, ...]:
        """Claims without an effect."""
        return tuple(one for one in self.checks if one.judgement is Judgement.WRONG)

    def text(self) -> str:
        """The check for a person."""
        lines = [f"The statement is {self.judgement}."]
        lines += [f"  {one.judgement}: {one.said}: {one.why}" for one in self.checks]
        lines += [f"  no claim is about: {one.line}" for one in self.unclaimed]
        return "\n".join([*lines, *(f"  Note: {note}." for note in self.notes)])


def check(statement: ClosingStatement | str, report: Report) -> StatementCheck:
    """Hold a closing statement against a report. Text is right only if it quotes the report."""
    if isinstance(statement, str):
        return _check_text(statement, report)
    checks = _claims(statement.claims, report)
    if statement.message.strip():
        checks += _check_text(statement.message, report).checks
    return _checked(checks, report)


# What a claim says, by what is recorded: right, or else why it is wrong.
_HOLDS: Final = {
    Became.DONE: (Standing.DONE,),
    Became.NOT_DONE: (Standing.REFUSED, Standing.WITHOUT_EFFECT),
    Became.UNDONE: (Standing.UNDONE,),
    Became.OPEN: (Standing.OPEN, Standing.UNKNOWN),
}


def _claims(claims: Iterable[Claim], report: Report) -> list[ClaimCheck]:
    """Each claim takes one deed; those that can mean only one choose first."""
    meant = [(claim, _meant(claim, report)) for claim in claims]
    found: dict[int, ClaimCheck] = {}
    taken: set[str] = set()
    for position in sorted(range(len(meant)), key=lambda one: len(meant[one][1])):
        found[position] = _judged(*meant[position], taken, report)
        taken.add(found[position].action_id or "")
    return [found[position] for position in range(len(meant))]


def _meant(claim: Claim, report: Report) -> list[Deed]:
    return [
        deed
        for deed in report.deeds
        if claim.tool in ("", deed.tool)
        and claim.about in ("", deed.about)
        and claim.step_id in ("", deed.step_id, deed.action_id)
        and claim.receipt_id in ("", deed.receipt_id)
    ]


def _judged(claim: Claim, deeds: list[Deed], taken: set[str], report: Report) -> ClaimCheck:
    said = _in_words(claim)

    def found(judgement: Judgement, why: str, deed: Deed | None = None) -> ClaimCheck:
        named = deed.action_id if deed else None
        return ClaimCheck(said=said, judgement=judgement, why=why, action_id=named)

    if not (claim.tool or claim.about or claim.step_id or claim.receipt_id):
        return found(Judgement.NOT_CHECKABLE, "it names no action")
    if claim.about and any(not one.about and claim.tool in ("", one.tool) for one in report.deeds):
        return found(Judgement.NOT_CHECKABLE, "what the tool's actions are about is not recorded")
    if not deeds:
        if claim.became is Became.NOT_DONE:
            return found(Judgement.NOT_CHECKABLE, "no such action is recorded")
        return found(Judgement.WRONG, "no such action is recorded")
    free = [one for one in deeds if one.action_id not in taken]
    if not free:
        return found(Judgement.WRONG, "it is claimed more often than it is recorded")
    if len({one.standing for one in deeds}) > 1:
        return found(Judgement.NOT_CHECKABLE, "several actions may be meant, and they differ")
    deed = free[0]
    if deed.standing not in _HOLDS[claim.became]:
        return found(Judgement.WRONG, f"recorded is: {deed.line}", deed)
    if deed.anomalies:
        return found(Judgement.NOT_CHECKABLE, "a person must look into it", deed)
    return found(Judgement.RIGHT, deed.line, deed)


def _in_words(claim: Claim) -> str:
    named = (claim.tool, claim.about, claim.step_id, claim.receipt_id)
    return f"{' '.join(one for one in named if one) or 'something'} {claim.became}"


def _check_text(text: str, report: Report) -> StatementCheck:
    return _checked(list(_lines(text, report)), report)


def _lines(text: str, report: Report) -> Iterator[ClaimCheck]:
    quoted = {deed.line: deed for deed in report.deeds}
    for line in text.splitlines():
        said = " ".join(line.split()).removeprefix("- ").removeprefix("* ")
        if not said:
            continue
        deed = quoted.get(said)
        contradicted = list(_contradicted(said, report))
        if deed:
            judgement = Judgement.NOT_CHECKABLE if deed.anomalies else Judgement.RIGHT
            yield ClaimCheck(said=said, judgement=judgement, action_id=deed.action_id)
        elif contradicted:
            yield ClaimCheck(said=said, judgement=Judgement.WRONG, why="; ".join(contradicted))
        else:
            yield ClaimCheck(
                said=said, judgement=Judgement.NOT_CHECKABLE, why="these are free words"
            )


def _contradicted(text: str, report: Report) -> Iterator[str]:
    """Marks of our own replies that say something else than the record."""
    for step_id, state in re.findall(MARKS, text):
        deeds = [one for one in report.deeds if one.step_id == step_id]
        if not deeds:
            yield f"this run has no step {step_id}"
        elif len(deeds) == 1 and state != _as_marked(deeds[0]):
            yield f"step {step_id} is {deeds[0].state}, and not {state}"


def _as_marked(deed: Deed) -> str:
    return PENDING if deed.standing is Standing.OPEN else deed.state


def _checked(checks: list[ClaimCheck], report: Report) -> StatementCheck:
    named = {one.action_id for one in checks}
    unclaimed = tuple(one for one in report.deeds if one.may_exist and one.action_id not in named)
    judged = {one.judgement for one in checks}
    vague = Judgement.NOT_CHECKABLE in judged
    if Judgement.WRONG in judged or (unclaimed and not vague):
        judgement = Judgement.WRONG
    elif vague or report.anomalous:
        judgement = Judgement.NOT_CHECKABLE
    else:
        judgement = Judgement.RIGHT
    return StatementCheck(
        judgement=judgement, checks=tuple(checks), unclaimed=unclaimed, notes=report.notes
    )
