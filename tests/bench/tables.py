"""The tables of docs/performance.md, from the raw results."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .contest import ALL, BLOWS, SERVICES
from .embedded import KINDS
from .histories import LOOKS_FOR
from .reasons import told
from .rows import FLOOR, KEYED

Told = Mapping[str, Any]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def spread(told: Told, digits: int = 1) -> str:
    """`median (low–high)`; the median alone where there was one reading."""
    middle = f"{told['median']:.{digits}f}"
    if told["n"] == 1:
        return middle
    return f"{middle} ({told['low']:.{digits}f}–{told['high']:.{digits}f})"


def flow(told: Told) -> str:
    head = ("row", "in flight", "per second", "CPU ms each: server", "worker and client",
            "p50 ms", "p95 ms", "readings")  # fmt: skip
    rows = [
        (one["row"], one["flight"], spread(one["per_s"]), spread(one["server_cpu_ms"]),
         spread(one["agent_cpu_ms"]), f"{one['p50_ms']['median']:.0f}",
         f"{one['p95_ms']['median']:.0f}", one["per_s"]["n"])
        for one in told["rows"]
    ]  # fmt: skip
    return table(head, rows)


def over_floor(told: Told) -> str:
    return table(
        ("in flight", "throughput over the floor's", "CPU over the floor's",
         "throughput over the tuned floor's", "CPU over the tuned floor's"),
        [(one["flight"], spread(one["throughput"], 2), spread(one["cpu"], 2),
          spread(tuned["throughput"], 2), spread(tuned["cpu"], 2))
         for one, tuned in zip(told["over_floor"], told["over_tuned_floor"], strict=True)],
    )  # fmt: skip


def histories(flow: Told) -> str:
    known = {one["row"]: one for one in flow["histories"]}
    return table(
        ("row", "workflow tasks", "events", "bytes"),
        [(name, known[name]["workflow_tasks"], known[name]["count"], known[name]["bytes"])
         for name in LOOKS_FOR if name in known],
    )  # fmt: skip


def events(flow: Told, row: str = KEYED) -> str:
    known = {one["row"]: one for one in flow["histories"]}
    floor = {one["event"] for one in known[FLOOR]["events"]}
    return table(
        ("event", "bytes", "in the floor too", "why"),
        [(f"`{name}`" + (f" × {count}" if count > 1 else ""), size,
          "yes" if name.split()[0] in floor else "no", why)
         for name, count, size, why in told(known[row]["events"])],
    )  # fmt: skip


def servers(told: Told) -> str:
    return table(
        ("one in flight", "server", "per second", "p50 ms", "CPU ms each"),
        [(one["work"], one["server"], spread(one["per_s"]), spread(one["p50_ms"], 0),
          spread(one["cpu_ms"]))
         for one in told["servers"]],
    )  # fmt: skip


def over_default(told: Told) -> str:
    return table(
        ("the embedded server's throughput", *(f"over {kind}" for kind in KINDS[1:])),
        [(work, *(spread(found[kind], 2) for kind in KINDS[1:]))
         for work, found in told["over"].items()],
    )  # fmt: skip


def growth(told: Told, most: int = 12) -> str:
    """At most so many of the windows, the first and the last among them."""
    windows = told["windows"]
    step = max(1, (len(windows) - 1) / max(1, most - 1))
    places = sorted({round(number * step) for number in range(most)} & set(range(len(windows))))
    chosen = [windows[place] for place in {*places, len(windows) - 1}] if windows else []
    chosen.sort(key=lambda one: one["actions"])
    return table(
        ("actions before", "per second", "CPU ms each: server", "worker and client",
         "server MiB", "worker MiB", "database MiB"),
        [(f"{one['actions']:,}", *(f"{one[key]:.1f}" for key in ("per_s", "server_cpu_ms",
          "agent_cpu_ms")), *(f"{one[key]:.0f}" for key in ("server_rss_mb", "agent_rss_mb",
          "database_mb")))
         for one in chosen],
    )  # fmt: skip


def steps(told: Told) -> str:
    return table(
        ("actions in the step", "ms a step", "CPU ms each action", "events", "bytes"),
        [(one["actions"], f"{one['step_ms']:.0f}", f"{one['cpu_ms_of_an_action']:.1f}",
          one["events"], f"{one['bytes']:,}")
         for one in told["steps"]],
    )  # fmt: skip


def rates(told: Told) -> str:
    settings = {peer.name: peer.setting for peer in ALL}
    by_peer: dict[str, dict[int, Told]] = {}
    for one in told["rates"]:
        by_peer.setdefault(one["peer"], {})[one["flight"]] = one
    return table(
        ("", "used as", "per second at 1", "at 16", "CPU ms each at 16"),
        [(name, settings[name], spread(by_peer[name][1]["per_s"]),
          spread(by_peer[name][16]["per_s"]), spread(by_peer[name][16]["cpu_ms"]))
         for name in settings if name in by_peer],
    )  # fmt: skip


def blows(told: Told) -> str:
    found = {(one["peer"], one["blow"], one["service"]): one for one in told["blows"]}
    columns = [(blow, service) for service in SERVICES for blow in BLOWS]
    named = {"lookup": "ignores keys", "keyed": "honours keys"}
    names = [peer.name for peer in ALL if any(key[0] == peer.name for key in found)]
    head = ("", *(f"{blow}, {named[service]}" for blow, service in columns))
    return table(
        head,
        [(name, *(_blow(found[name, blow, service]) for blow, service in columns))
         for name in names],
    )  # fmt: skip


def _blow(one: Told) -> str:
    effects = f"{one['effects']} effect{'' if one['effects'] == 1 else 's'}"
    if one["survived"]:
        return f"yes ({effects})"
    return f"**no** ({effects}, said {one['said']})"
