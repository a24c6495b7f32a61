"""What a run comes to: whether it counts, and its last line."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .embedded import PLAIN
from .rows import FLOOR

Results = Mapping[str, Any]

TARGETS: Final = {
    "keyed_over_floor": (">=", 0.9),
    "cpu_over_floor": ("<=", 1.1),
    "embedded_over_dev_default": (">=", 2.5),
    "cost_50k_over_1k": ("<=", 1.1),
    "step_of_ten_over_one": ("<", 4.0),
}


def wrong(results: Results) -> list[str]:
    """What a ledger contradicted, and what did not run to its end; with any, the run fails."""
    found = []
    for part, told in results.items():
        if part not in ("run", "size"):
            found += [f"{part}: {one}" for one in told.get("wrong", ())]
            if "failed" in told:
                found.append(f"{part}: it did not end: {told['failed']}")
    return found


def last_line(results: Results) -> dict[str, Any]:
    """The worst of what each figure covers; None where its part did not run to the end.

    cpu_over_floor             of all numbers in flight the highest
    embedded_over_dev_default  of a plain workflow, started as by default; the lower of two: the
                               default with a file, and as it comes, in memory only
    cost_50k_over_1k, step_of_ten_over_one  the higher of two: time and CPU
    """
    flow, parked = results.get("flow", {}), results.get("parked", {})
    over = {str(one["flight"]): one for one in flow.get("over_floor", ())}
    floor = [one for one in flow.get("rows", ()) if one["row"] == FLOOR]
    ten = flow.get("ten_over_one", {})
    aged = results.get("growth", {}).get("old_over_young", {})
    servers = results.get("embedded", {}).get("over", {}).get(PLAIN, {})
    rss = parked.get("rss_mb", {})
    return {
        "floor_per_s": {str(one["flight"]): _short(one["per_s"]["median"]) for one in floor},
        "keyed_over_floor": {flight: _median(one["throughput"]) for flight, one in over.items()},
        "cpu_over_floor": _worst(max, [one["cpu"] for one in over.values()]),
        "embedded_over_dev_default": _worst(min, list(servers.values())),
        "cost_50k_over_1k": _worst(max, list(aged.values())),
        "step_of_ten_over_one": _worst(max, list(ten.values())),
        "parked_10k_rss_mb": {
            "server": _short(rss["server"]) if rss else None,
            "worker": _short(rss["worker"]) if rss else None,
        },
    }


def missed(last: Mapping[str, Any]) -> list[str]:
    """The targets that this run did not reach, in words."""
    found = []
    for name, (sign, target) in TARGETS.items():
        value = last[name]
        for where, one in value.items() if isinstance(value, dict) else [("", value)]:
            place = f"{name} at {where} in flight" if where else name
            if one is None:
                found.append(f"{place}: not measured")
            elif not _holds(one, sign, target):
                found.append(f"{place}: {one}, and should be {sign} {target}")
    return found


def _holds(value: float, sign: str, target: float) -> bool:
    return {"<": value < target, "<=": value <= target, ">=": value >= target}[sign]


def _median(spread: Mapping[str, float]) -> float:
    return round(spread["median"], 3)


def _worst(choose: Any, spreads: Sequence[Mapping[str, float]]) -> float | None:
    return choose(map(_median, spreads)) if spreads else None


def _short(value: float) -> float:
    return round(value, 1)
