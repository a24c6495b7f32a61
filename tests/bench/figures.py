"""The figures, as SVG and PNG; readable in black and white."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
mpl.rcParams.update(
    {
        "svg.hashsalt": "surestep", "svg.fonttype": "none", "font.size": 9,
        "axes.spines.top": False, "axes.spines.right": False, "hatch.linewidth": 0.6,
    }
)  # fmt: skip

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from .rows import FLOOR, KEYED  # noqa: E402

SHOWN = {FLOOR: ("0.75", ""), KEYED: ("white", "xxx"),
         "look-up-able, looked at first": ("white", "///")}  # fmt: skip


def draw(results: Mapping[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _save(throughput(results["flow"]), folder / "throughput")
    _save(growth(results["growth"]), folder / "growth")


def throughput(flow: Mapping[str, Any]) -> Figure:
    """Actions a second, and CPU for each, with quartiles."""
    figure, panels = plt.subplots(1, 2, figsize=(8.5, 3.4), layout="constrained")
    flights = sorted({one["flight"] for one in flow["rows"]})
    for axes, what, label in (
        (panels[0], "per_s", "actions per second"),
        (panels[1], "cpu_ms", "CPU for each action, ms"),
    ):
        for number, (name, (colour, hatch)) in enumerate(SHOWN.items()):
            for place, flight in enumerate(flights):
                (row,) = [one for one in flow["rows"]
                          if one["row"] == name and one["flight"] == flight]  # fmt: skip
                told = row[what]
                middle = told["median"]
                axes.bar(
                    place + (number - 1) * 0.27, middle, 0.27, color=colour, hatch=hatch,
                    edgecolor="black", linewidth=0.7, label=name if place == 0 else None,
                    yerr=[[middle - told["low"]], [told["high"] - middle]], ecolor="black",
                    capsize=2,
                )  # fmt: skip
        axes.set_xticks(range(len(flights)), [str(one) for one in flights])
        axes.set_xlabel("in flight")
        axes.set_ylabel(label)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def growth(told: Mapping[str, Any]) -> Figure:
    """What an action costs, and what is kept, by the number of actions before it."""
    figure, panels = plt.subplots(1, 3, figsize=(9.5, 3.2), layout="constrained")
    windows = told["windows"]
    done = [one["actions"] for one in windows]
    cost = [one["server_cpu_ms"] + one["agent_cpu_ms"] for one in windows]
    panels[0].plot(done, cost, "k-", linewidth=1)
    panels[0].set_ylabel("CPU for each action, ms")
    for name, line in (("server", "-"), ("agent", "--")):
        memory = [one[f"{name}_rss_mb"] for one in windows]
        panels[1].plot(done, memory, line, color="black", linewidth=1, label=name)
    panels[1].set_ylabel("memory, MiB")
    panels[1].legend(frameon=False)
    panels[2].plot(done, [one["database_mb"] for one in windows], "k-", linewidth=1)
    panels[2].set_ylabel("database, MiB")
    for axes in panels:
        axes.set_ylim(0, None)
        axes.set_xlabel("actions before")
    return figure


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(path.with_suffix(".png"), dpi=130, metadata={"Software": None})
    plt.close(figure)
