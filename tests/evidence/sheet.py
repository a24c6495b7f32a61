"""Markdown tables, and how the numbers in them are written."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .campaign import Result
from .cost import total
from .interval import wilson


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)


def flag(group: Sequence[Result], *flags: str) -> str:
    """Per cent of the episodes, and the Wilson interval."""
    hits, n = sum(one.flags[name] for one in group for name in flags), total(group, "n")
    low, high = wilson(min(hits, n), n)
    return f"{100 * hits / n:.1f} ({100 * low:.1f}–{100 * high:.1f})"


def short(group: Sequence[Result], name: str) -> str:
    hits, n = sum(one.flags[name] for one in group), total(group, "n")
    return "0" if hits == 0 else f"{100 * hits / n:.1f}"


def seconds(value: float) -> str:
    if value < 120:
        return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"


def by(results: Iterable[Result], key: Callable[[Result], Any]) -> list[tuple[Any, list[Result]]]:
    groups: dict[Any, list[Result]] = {}
    for one in results:
        groups.setdefault(key(one), []).append(one)
    return list(groups.items())
