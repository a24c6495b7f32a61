"""The figures, as SVG and PNG; readable in black and white. The same results give the same SVG."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl

mpl.use("Agg")
mpl.rcParams.update(
    {
        "svg.hashsalt": "surestep", "svg.fonttype": "none", "font.size": 9,
        "axes.spines.top": False, "axes.spines.right": False, "hatch.linewidth": 0.6,
    }
)  # fmt: skip

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from . import wrapper  # noqa: E402
from .campaign import Result  # noqa: E402
from .cost import EVERYWHERE, NATIVE, name, native, total  # noqa: E402
from .interval import wilson  # noqa: E402

FOLDER: Final = Path(__file__).parents[2] / "docs" / "figures"
BARS: Final = {
    "blind retry": ("0.25", ""),
    "verify only": ("white", "///"),
    "published": ("0.7", ""),
    wrapper.SURESTEP: ("white", "xxxx"),
}
MARKS: Final = {
    "plain agent": "s",
    "library retries": "v",
    "verify before retry": "D",
    "published": "^",
    "oracle client": "*",
    "Surestep, Δ promised": "o",
    "Surestep, Δ not promised": "P",
}
LINES: Final[dict[str, Any]] = {
    "plain agent": (0, (1, 1)),
    "library retries": (0, (5, 1)),
    "verify before retry": (0, (3, 1, 1, 1)),
    "published": (0, (3, 1, 1, 1, 1, 1)),
    "Surestep, Δ promised": "-",
    "Surestep, Δ not promised": (0, (8, 2)),
}


def draw(results: Sequence[Result], folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    e1 = [one for one in results if one.experiment == "E1"]
    _save(duplicates(e1), folder / "duplicates")
    _save(completion(results), folder / "completion")
    _save(settling(results), folder / "settling")


def duplicates(results: Sequence[Result]) -> Figure:
    """E1 by fault level: a bar per arm, with its interval; published values beside it."""
    figure, axes = plt.subplots(2, 2, figsize=(8.5, 6), sharey=True, layout="constrained")
    for row, service in enumerate(wrapper.SERVICES):
        for column, agent in enumerate(wrapper.AGENTS):
            chosen = [
                one
                for one in results
                if one.is_of(service=service, agent=agent, reading="independent")
            ]
            _bars(axes[row][column], chosen, published=service == "ignores keys" and not column)
            axes[row][column].set_title(f"the service {service}, {agent} agent", fontsize=9)
    for place in axes[:, 0]:
        place.set_ylabel("episodes with a duplicate, %")
    for place in axes[1]:
        place.set_xlabel("fault level")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return figure


def _bars(axes: Axes, results: Sequence[Result], *, published: bool) -> None:
    width = 0.2
    for number, (arm, (colour, hatch)) in enumerate(BARS.items()):
        for place, level in enumerate(wrapper.LEVELS):
            group = [one for one in results if one.is_of(arm=arm, level=level)]
            hits, n = sum(one.flags["duplicate"] for one in group), total(group, "n")
            low, high = wilson(hits, n)
            rate, x = 100 * hits / n, place + (number - 1.5) * width
            axes.bar(
                x, rate, width, color=colour, hatch=hatch, edgecolor="black", linewidth=0.7,
                label=arm if place == 0 else None,
                yerr=[[rate - 100 * low], [100 * high - rate]], ecolor="black", capsize=2,
            )  # fmt: skip
            if published:
                values = [
                    percents[place]
                    for (_, named), percents in wrapper.PUBLISHED.items()
                    if named == arm
                ]
                axes.plot([x] * len(values), values, "k_", markersize=11, markeredgewidth=2)
    if published:
        axes.plot([], [], "k_", markersize=11, markeredgewidth=2, label="as published (n = 25)")
    axes.set_xticks(range(len(wrapper.LEVELS)), list(wrapper.LEVELS))
    axes.set_ylim(0, 100)


def completion(results: Sequence[Result]) -> Figure:
    """E2: exactly once against duplicates; filled: native contracts, open: keys everywhere."""
    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    for services in (NATIVE, EVERYWHERE):
        keys, chosen = services == EVERYWHERE, native(results, services)
        for arm, mark in MARKS.items():
            group = [one for one in chosen if name(one) == arm]
            n = total(group, "n")
            x, y = (100 * sum(one.flags[f] for one in group) / n for f in ("duplicate", "exact"))
            axes.plot(
                x, y, mark, color="black", markerfacecolor="white" if keys else "black",
                markersize=9, linestyle="none", label=arm if not keys else None,
            )  # fmt: skip
            if arm.startswith("Surestep"):
                alone = 100 * sum(one.flags["by_itself"] for one in group) / n
                axes.plot([x, x], [alone, y], "-", color="0.5", linewidth=1, zorder=0)
                axes.plot(x, alone, "_", color="black", markersize=12)
    axes.set_xlabel("episodes with a duplicate, %")
    axes.set_ylabel("episodes exactly once, %")
    axes.set_xlim(-2, None)
    axes.set_ylim(0, 102)
    axes.legend(frameon=False, loc="lower right", fontsize=8)
    return figure


def settling(results: Sequence[Result]) -> Figure:
    """E2: the share of episodes that are over, and right, by the time since the first call."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True, layout="constrained")
    for services, axes in zip((NATIVE, EVERYWHERE), panels, strict=True):
        chosen = native(results, services)
        for arm, line in LINES.items():
            group = [one for one in chosen if name(one) == arm]
            times = sorted(max(time, 0.1) for one in group for time in one.right)
            n = total(group, "n")
            shares = [100 * (number + 1) / n for number in range(len(times))]
            thin = max(1, len(times) // 400)  # points
            axes.plot(
                [0.1, *times[::thin], 1e6], [0, *shares[::thin], shares[-1]],
                linestyle=line, color="black" if arm.startswith("Surestep") else "0.45",
                linewidth=1.6, label=arm, drawstyle="steps-post",
            )  # fmt: skip
        axes.set_xscale("log")
        axes.set_xlim(0.1, 2e5)
        axes.set_ylim(0, 101)
        axes.set_xticks([1, 60, 3600, 86400], labels=["1 s", "1 min", "1 h", "1 d"])
        axes.minorticks_off()
        axes.set_xlabel("time since the first call (logarithmic)")
        axes.set_title(services, fontsize=9)
    panels[0].set_ylabel("episodes over and exactly once, %")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return figure


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(path.with_suffix(".png"), dpi=130, metadata={"Software": None})
    plt.close(figure)
