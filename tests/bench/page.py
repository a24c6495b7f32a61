"""docs/performance.md: the prose of page.md, with tables and figures from the results."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from surestep.embedded_process import DYNAMIC_CONFIGURATION, SQLITE

from . import tables
from .judgement import last_line, missed, wrong
from .size import SIZES

TEMPLATE: Final = Path(__file__).with_name("page.md")
SMALLER: Final = "**A smaller run than the one of the repository: its figures are rough.**\n"


def page(results: Mapping[str, Any]) -> str:
    run, size, flow = results["run"], results["size"], results["flow"]
    last = last_line(results)
    problems = [f"* **wrong**: {one}" for one in wrong(results)]
    misses = [f"* not reached: {one}" for one in missed(last)]
    parts = {
        **{f"run_{key}": value for key, value in run.items()},
        "peers": ", ".join(
            one for one in run["peers"] if one.split("==")[0] in ("agent-once", "dbos")
        ),
        "size": size["name"],
        "smaller": "" if SIZES[size["name"]].name == "full" else SMALLER,
        "minutes": f"{run['seconds'] / 60:.0f}",
        "last_line": json.dumps(last),
        "judgement": "\n".join([*problems, *misses]) or "Every target is reached.",
        "flow": tables.flow(flow),
        "over_floor": tables.over_floor(flow),
        "histories": tables.histories(flow),
        "events": tables.events(flow),
        "ten_time": tables.spread(flow["ten_over_one"]["time"], 2),
        "ten_cpu": tables.spread(flow["ten_over_one"]["cpu"], 2),
        "servers": tables.servers(results["embedded"]),
        "over_default": tables.over_default(results["embedded"]),
        "server_settings": _settings(),
        "known": results["durability"]["known"],
        "ended": results["durability"]["ended"],
        "growth": tables.growth(results["growth"]),
        "steps": tables.steps(results["width"]),
        "rates": tables.rates(results["contest"]),
        "blows": tables.blows(results["contest"]),
        "not_installed": _not_installed(results["contest"]),
        **_growth(results["growth"]),
        **_parked(results["parked"]),
        **{f"evidence_{key}": _short(value) for key, value in results["width"]["evidence"].items()},
        **{f"looks_{key}": _short(value) for key, value in results["looks"].items()},
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: str(parts[found[1]]), text)


def _settings() -> str:
    known = {**{f"--sqlite-pragma {name}": value for name, value in SQLITE.items()},
             **{f"--dynamic-config-value {name}": value
                for name, value in DYNAMIC_CONFIGURATION.items()}}  # fmt: skip
    return "\n".join(f"{name}={value}" for name, value in known.items())


def _growth(told: Mapping[str, Any]) -> dict[str, object]:
    return {
        "young_actions": f"{told['young_actions']:,}",
        "old_actions": f"{told['old_actions']:,}",
        "old_time": tables.spread(told["old_over_young"]["time"], 2),
        "old_cpu": tables.spread(told["old_over_young"]["cpu"], 2),
        "floor_old_time": tables.spread(told["floor_old_over_young"]["time"], 2),
        "floor_old_cpu": tables.spread(told["floor_old_over_young"]["cpu"], 2),
    }


def _parked(told: Mapping[str, Any]) -> dict[str, object]:
    return {
        "parked": f"{told['count']:,}",
        "park_seconds": _short(told["park_seconds"]),
        "decide_seconds": _short(told["decide_seconds"]),
        "quiet_seconds": _short(told["quiet_seconds"]),
        "parked_database": f"{told['database_mb']:.0f}",
        "unresolved_hundred": tables.spread(told["unresolved_hundred_ms"], 0),
        "unresolved_all": tables.spread(told["unresolved_all_ms"], 0),
        **{f"idle_{who}": told["idle_cpu_percent"][who] for who in ("server", "worker")},
        **{f"before_{who}": f"{told['rss_mb_before'][who]:.0f}" for who in ("server", "worker")},
        **{f"rss_{who}": f"{told['rss_mb'][who]:.0f}" for who in ("server", "worker")},
    }


def _not_installed(told: Mapping[str, Any]) -> str:
    missing = told["not_installed"]
    return f"\nNot installed in this run: {', '.join(missing)}.\n" if missing else ""


def _short(value: Any) -> Any:
    return f"{value:.1f}" if isinstance(value, float) else value
