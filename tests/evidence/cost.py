"""E5: what safety costs each arm, summed from the cells of E1 and E2. Nothing is run anew."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from .campaign import Result, percentiles

NATIVE: Final = "native contracts"
EVERYWHERE: Final = "keys everywhere"
WITHOUT: Final = ("oracle client", "Δ too small", "hasty human", "key not honoured")
"""Arms that no deployment would have."""


def costs(results: Sequence[Result]) -> list[dict[str, Any]]:
    """One line per experiment, kind of services and arm, over the same cells for every arm."""
    lines = []
    for experiment, services, chosen in _groups(results):
        groups: dict[str, list[Result]] = {}
        for one in chosen:
            if not one.broken and one.cell["arm"] not in WITHOUT:
                groups.setdefault(name(one), []).append(one)
        for arm, group in groups.items():
            where = {"experiment": experiment, "services": services, "arm": arm}
            lines.append(where | cost(group))
    return lines


def _groups(results: Sequence[Result]) -> Iterator[tuple[str, str, list[Result]]]:
    e1 = [one for one in results if one.experiment == "E1"]
    for service in dict.fromkeys(one.cell["service"] for one in e1):
        yield "E1", service, [one for one in e1 if one.cell["service"] == service]
    for services in (NATIVE, EVERYWHERE):
        yield "E2", services, native(results, services)


def native(results: Sequence[Result], services: str) -> list[Result]:
    """E2's cells with a fault: as the services are, or with keys everywhere, keyed ones in both."""
    keys = services == EVERYWHERE
    return [
        one
        for one in results
        if one.experiment == "E2"
        and one.cell["fault"] != "none"
        and (one.cell["keys"] is keys or (keys and one.cell["kind"] == "keyed"))
        and not (keys and one.cell["arm"] in WITHOUT[1:])
    ]


def name(result: Result) -> str:
    arm = str(result.cell["arm"])
    if result.surestep and not arm.startswith("Surestep"):
        return f"Surestep, {arm}"
    return arm


def cost(group: Sequence[Result]) -> dict[str, Any]:
    """Per action; an extra request is one more than each action needs."""
    actions, episodes = total(group, "actions"), total(group, "n")
    return {
        "episodes": episodes,
        "actions": actions,
        "exact_percent": round(100 * sum(one.flags["exact"] for one in group) / episodes, 2),
        "duplicate_percent": round(
            100 * sum(one.flags["duplicate"] for one in group) / episodes, 2
        ),
        "asked_unavoidably_per_thousand": round(
            1000 * (total(group, "asked") - total(group, "avoidable")) / actions, 2
        ),
        "asked_avoidably_per_thousand": round(1000 * total(group, "avoidable") / actions, 2),
        "reads_per_action": round(total(group, "reads") / actions, 3),
        "reads_of_watches_per_action": round(total(group, "watch_reads") / actions, 3),
        "extra_requests_per_action": round(total(group, "requests") / actions - 1, 3),
        "settled_seconds": percentiles([time for one in group for time in one.settled]),
        "asked_to_settled_seconds": percentiles([time for one in group for time in one.human]),
    }


def total(group: Iterable[Result], field: str) -> int:
    return sum(getattr(one, field) for one in group)
