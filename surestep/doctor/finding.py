"""What the doctor finds: one check, how it stands, and what to do."""

from enum import StrEnum

from surestep.value import Value


class Level(StrEnum):
    """How a check stands. Only a problem is worth a call at night."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


class Finding(Value):
    """The answer of one check, or of a part of it.

    check    what was looked at, one word or two
    what     what is so
    meaning  what follows from it; empty where nothing does
    remedy   what to change; empty where nothing is wrong
    """

    check: str
    level: Level
    what: str
    meaning: str = ""
    remedy: str = ""


def ok(check: str, what: str) -> Finding:
    return Finding(check=check, level=Level.OK, what=what)


def warning(check: str, what: str, meaning: str, remedy: str) -> Finding:
    return Finding(check=check, level=Level.WARNING, what=what, meaning=meaning, remedy=remedy)


def problem(check: str, what: str, meaning: str, remedy: str) -> Finding:
    return Finding(check=check, level=Level.PROBLEM, what=what, meaning=meaning, remedy=remedy)


def some(names: list[str], limit: int = 5) -> str:
    """The names, the first few where there are many."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
