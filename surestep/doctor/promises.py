"""What a contract may say, and what deserves a second thought all the same."""

from datetime import timedelta

from surestep.contract import FOREVER, Contract, Effect
from surestep.doctor.finding import Finding, ok, warning
from surestep.doctor.patient import Patient
from surestep.doctor.retention import days
from surestep.tool import Tool

CHECK = "contracts"
ZERO = timedelta(0)


async def check_promises(patient: Patient) -> list[Finding]:
    undos = [tool.undo for tool in patient.tools]
    tools = [tool for tool in patient.tools if tool not in undos]
    if not tools:
        return []
    found = [one for tool in tools for one in _doubts(tool)]
    return found or [ok(CHECK, "nothing in them gives cause for doubt")]


def _doubts(tool: Tool) -> list[Finding]:
    contract = tool.contract
    if contract.effect is Effect.READ:
        return []
    found = [
        _unbounded(tool.name, contract),
        _strong_read(tool, contract),
        _impatient(tool.name, contract),
        _short_watch(tool, contract),
        _never_overdue(tool.name, contract),
    ]
    return [one for one in found if one]


def _unbounded(name: str, contract: Contract) -> Finding | None:
    key = contract.key
    if key is None or contract.in_flight is not None or key.lifetime >= FOREVER:
        return None
    return warning(
        CHECK,
        f"{name} honours a key for {days(key.lifetime)} and promises no in_flight",
        f"Half of the key's lifetime, {days(key.lifetime / 2)}, stands in for it. A service that "
        "holds a request back for longer can apply it a second time.",
        "Promise in_flight, if the service says how long a request can take until it is applied or "
        "dropped.",
    )


def _strong_read(tool: Tool, contract: Contract) -> Finding | None:
    trusted = contract.visibility_lag == ZERO and contract.in_flight is not None
    if not trusted or contract.key is not None or tool.verify_with is None or tool.fence_with:
        return None
    return warning(
        CHECK,
        f"{tool.name} has no key, and promises that a lookup shows a commit at once "
        "(visibility_lag=0)",
        "A miss then lets it be sent again. Behind a cache, a replica or a search index that is a "
        "second effect.",
        f"Hold it against the sandbox with `python starter.py check` and {tool.name}'s import "
        "string, or promise a lag.",
    )


def _impatient(name: str, contract: Contract) -> Finding | None:
    settles = contract.settles_after
    if settles is None or contract.patience >= settles:
        return None
    return warning(
        CHECK,
        f"{name} asks a person after {days(contract.patience)} (patience), and a miss proves "
        f"absence only after {days(settles)} (in_flight + visibility_lag)",
        "People are asked what would have settled itself a little later.",
        f"Set patience to {settles.total_seconds():g} seconds or more.",
    )


def _short_watch(tool: Tool, contract: Contract) -> Finding | None:
    settles = contract.settles_after or contract.in_flight or ZERO
    if tool.verify_with is None or contract.watch > settles:
        return None
    return warning(
        CHECK,
        f"{tool.name} watches an ended action for {days(contract.watch)}, no longer than "
        f"{days(settles)}, in which an effect may still show",
        "An effect that lands later than promised is noticed by nobody.",
        "Set watch to a day, which is the default.",
    )


def _never_overdue(name: str, contract: Contract) -> Finding | None:
    if contract.overdue_after is not None:
        return None
    return warning(
        CHECK,
        f"{name} has overdue_after=None",
        "A question that nobody answers stands for ever, and nobody else is told.",
        "Set overdue_after to how long an answer may take.",
    )
