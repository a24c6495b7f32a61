"""How long the namespace remembers closed steps, against what the tools' services remember.

After retention the id is forgotten, and the same step submitted again is a new one. A service that
honours our key still knows it then, for the key's lifetime. Without a key nobody knows.
"""

from datetime import timedelta

from surestep.contract import FOREVER
from surestep.doctor.finding import Finding, ok, problem, some, warning
from surestep.doctor.patient import Patient
from surestep.doctor.server import described
from surestep.tool import Tool

CHECK = "retention"
SHORT = timedelta(days=1)


async def check_retention(patient: Patient) -> list[Finding]:
    answer = await described(patient)
    kept: timedelta = answer.config.workflow_execution_retention_ttl.ToTimedelta()
    window = patient.resubmitted_within
    found = [_keys(patient.tools, kept), _watches(patient.tools, kept), _again(patient, kept)]
    bad = [one for one in found if one]
    said = "" if window else " (say --resubmitted-within DAYS to compare it with your agents)"
    return bad or [ok(CHECK, f"closed steps are kept for {days(kept)}{said}")]


def _keys(tools: tuple[Tool, ...], kept: timedelta) -> Finding | None:
    lives = {tool.name: tool.contract.key.lifetime for tool in tools if tool.contract.key}
    longer = {name: life for name, life in lives.items() if kept < life < FOREVER}
    if not longer:
        return None
    longest = max(longer.values())
    return warning(
        CHECK,
        f"closed steps are kept for {days(kept)}, and the service of {some(list(longer))} honours "
        f"a key for up to {days(longest)}",
        "A step that comes again in between is a new one, which counts the key's life from its own "
        "first send. The service counts from the old one, and may forget the key between two "
        "attempts: the second then has another effect.",
        _lengthen(longest),
    )


def _watches(tools: tuple[Tool, ...], kept: timedelta) -> Finding | None:
    longer = {tool.name: tool.contract.watch for tool in tools if tool.contract.watch > kept}
    if not longer:
        return None
    longest = max(longer.values())
    return warning(
        CHECK,
        f"closed steps are kept for {days(kept)}, and {some(list(longer))} watches an ended action "
        f"for up to {days(longest)}",
        "Of an effect that lands late, the step that it belongs to is gone by then.",
        _lengthen(longest),
    )


def _again(patient: Patient, kept: timedelta) -> Finding | None:
    window = patient.resubmitted_within or SHORT
    if window <= kept:
        return None
    exposed = [
        tool.name
        for tool in patient.tools
        if tool.contract.key is None or tool.contract.key.lifetime < window
    ]
    what = f"closed steps are kept for {days(kept)}, and may come again within {days(window)}"
    if not exposed:
        return warning(
            CHECK,
            what,
            "The same step is then a new one; only the service's memory of the key keeps it from a "
            "second effect, and its old outcome cannot be recalled.",
            _lengthen(window),
        )
    return problem(
        CHECK,
        what,
        f"After that the id is forgotten and the action is sent again: {some(exposed)} has no key "
        "that lives as long. A look before the send finds what is visible; a blind service gets it "
        "twice.",
        _lengthen(window),
    )


def _lengthen(wanted: timedelta) -> str:
    whole = -(-wanted // timedelta(days=1))
    return (
        f"Keep closed steps longer: `temporal operator namespace update --retention {whole}d "
        "--namespace NAME`, on Temporal Cloud in the namespace's settings."
    )


def days(length: timedelta) -> str:
    """A length of time in the unit that suits it."""
    seconds = length.total_seconds()
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= size:
            count = f"{seconds / size:.3g}"
            return f"{count} {unit}" if count != "1" else f"1 {unit[:-1]}"
    return f"{seconds:g} s"
