"""The reason of a decision: what settles an action, or sends it again, is never said without."""

from pathlib import Path
from shlex import quote
from typing import Final

from surestep.cli import page
from surestep.cli.exits import Exit
from surestep.decision import HOW_YOU_KNOW, Decision, Verdict

NEED_ONE: Final = (Verdict.CONFIRM, Verdict.RETRY, Verdict.ABANDON, Verdict.LEAVE_UNKNOWN)


def missing(
    target: str, said: Decision, *, by: str | None, decision_id: str | None, key: Path | None
) -> Exit | None:
    """Say what to type instead, where a reason is needed and none is given; None: all is well.

    by, decision_id, key  as they were typed
    """
    if said.note.strip() or said.verdict not in NEED_ONE:
        return None
    given = {
        "--version": said.version,
        "--id": said.receipt_id,
        "--by": by,
        "--decision-id": decision_id,
        "--key": key,
    }
    options = [f"{name} {quote(str(one))}" for name, one in given.items() if one is not None]
    options += ["--accept-duplicate"] if said.accept_duplicate else []
    words = ["python starter.py decide", quote(target), said.verdict.value, *options]
    page.aside(
        f"error: {said.verdict} is recorded with its reason: say by --note how you know, as in"
    )
    line = f'{" ".join(words)} --note "{HOW_YOU_KNOW}"'
    page.command(line, to_copy_from_stderr=True)
    return Exit.INVALID
