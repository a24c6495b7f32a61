"""E1's tables."""

from collections.abc import Sequence
from typing import Any

from . import wrapper
from .campaign import Result
from .interval import published_interval
from .sheet import flag, short, table


def reproduced(results: Sequence[Result], reading: str, arm: str) -> bool:
    """Whether all six measured rates lie within the intervals of the published ones."""
    return all(inside for *_, inside in _comparison(results, reading, arm))


def _comparison(results: Sequence[Result], reading: str, arm: str) -> list[tuple[Any, ...]]:
    found = []
    for (task, published_arm), percents in wrapper.PUBLISHED.items():
        if published_arm != arm:
            continue
        for level, percent in zip(wrapper.LEVELS, percents, strict=True):
            (cell,) = [
                one
                for one in results
                if one.is_of(
                    task=task, level=level, reading=reading, service="ignores keys",
                    agent="patient", arm=arm,
                )
            ]  # fmt: skip
            low, high = published_interval(percent)
            rate = cell.rate("duplicate")
            found.append((task, level, percent, low, high, cell, low <= rate <= high))
    return found


def reproduction(results: Sequence[Result]) -> str:
    rows = []
    for reading in wrapper.READINGS:
        for arm in ("blind retry", "published"):
            for task, level, percent, low, high, cell, inside in _comparison(results, reading, arm):
                rows.append(
                    (
                        reading, arm, f"`{task}`", level,
                        f"{percent} ({100 * low:.0f}–{100 * high:.0f})",
                        flag([cell], "duplicate"), "yes" if inside else "**no**",
                    )
                )  # fmt: skip
    return table(
        ("reading", "arm", "task", "level", "published %, n = 25", "measured %", "within"), rows
    )


def wrapper_arms(results: Sequence[Result], reading: str) -> str:
    """Both tasks together, per service, agent and arm."""
    rows = []
    for service in wrapper.SERVICES:
        for agent in wrapper.AGENTS:
            for arm in wrapper.ARMS:
                by_level = [
                    [
                        one for one in results
                        if one.is_of(level=level, reading=reading, service=service, agent=agent,
                                     arm=arm)
                    ]
                    for level in wrapper.LEVELS
                ]  # fmt: skip
                rows.append(
                    (
                        service, agent, arm,
                        *(_levels(by_level, one) for one in (
                            "duplicate", "exact", "by_itself", "false_confirmed",
                            "false_not_found", "over_claimed", "asked",
                        )),
                    )
                )  # fmt: skip
    return table(
        ("service", "agent", "arm", "duplicates", "exactly once", "… without a human",
         "false confirmed", "false not found", "over-claims", "asked"),
        rows,
    )  # fmt: skip


def _levels(by_level: Sequence[Sequence[Result]], name: str) -> str:
    return " / ".join(short(group, name) for group in by_level)
