"""The tables of E3, E4 and E5."""

from collections.abc import Sequence
from typing import Any

from .campaign import Result
from .sheet import by, seconds, table


def keylife(results: Sequence[Result]) -> str:
    """Where the request had been applied: what each way of carrying out the answer makes of it."""
    chosen = [one for one in results if one.is_of(truth="applied")]
    rows = []

    def place(one: Result) -> tuple[str, ...]:
        return one.cell["arm"], one.cell["lookup"], one.cell["human"], one.cell["old_key"]

    answers = list(dict.fromkeys(one.cell["answers"] for one in chosen))
    for (arm, lookup, human, old_key), group in by(chosen, place):
        row = [arm, lookup, human, old_key]
        for when in answers:
            cell = [one for one in group if one.cell["answers"] == when]
            row.append(_ending(cell[0]) if cell else "–")
        rows.append(row)
    return table(("arm", "service", "human", "an old key is", *answers), rows)


def absent(results: Sequence[Result]) -> str:
    """Where nothing had been applied."""
    chosen = [one for one in results if one.is_of(truth="never arrived")]
    exact, n = sum(one.flags["exact"] for one in chosen), sum(one.n for one in chosen)
    return f"Where nothing had been applied, all arms together completed {exact} of {n}."


def _ending(cell: Result) -> str:
    sign = " †" if cell.broken else ""
    if cell.flags["duplicate"]:
        return f"**{100 * cell.rate('duplicate'):.0f} % duplicates**{sign}"
    if cell.flags["false_not_found"]:
        return f"{100 * cell.rate('false_not_found'):.0f} % called failed{sign}"
    return f"{100 * cell.rate('exact'):.0f} % right{sign}"


def crashes(crashed: Sequence[dict[str, Any]]) -> str:
    arms = list(dict.fromkeys(one["arm"] for one in crashed))
    rows = []
    for point in dict.fromkeys(one["point"] for one in crashed):
        row = [point]
        for arm in arms:
            (one,) = [each for each in crashed if each["arm"] == arm and each["point"] == point]
            row.append(_crash(one))
        rows.append(row)
    right = ["points at which all were right"]
    for arm in arms:
        mine = [one for one in crashed if one["arm"] == arm]
        right.append(f"**{sum(one['right'] == one['n'] for one in mine)} of {len(mine)}**")
    return table(("killed when", *arms), [*rows, right])


def _crash(one: dict[str, Any]) -> str:
    words = [f"{one['right']}/{one['n']} right"]
    words += [f"{one[name]} {text}" for name, text in (
        ("duplicates", "repeated"), ("missing", "missing"), ("denied", "called failed"),
        ("asked", "asked"),
    ) if one[name]]  # fmt: skip
    return ", ".join(words)


def costs(lines: Sequence[dict[str, Any]]) -> str:
    rows = []
    for one in lines:
        times = one["settled_seconds"]
        rows.append(
            (
                one["experiment"], one["services"], one["arm"], f"{one['exact_percent']:.1f}",
                f"{one['duplicate_percent']:.1f}",
                f"{one['asked_unavoidably_per_thousand']:.1f}",
                f"{one['asked_avoidably_per_thousand']:.1f}",
                f"{one['reads_per_action']:.2f}",
                f"{one['reads_of_watches_per_action']:.2f}",
                f"{one['extra_requests_per_action']:.2f}",
                seconds(times["p50"]), seconds(times["p90"]), seconds(times["p99"]),
            )
        )  # fmt: skip
    return table(
        ("", "services", "arm", "exactly once %", "duplicates %", "asked, unavoidable ‰",
         "asked, avoidable ‰", "reads", "reads of watches", "extra requests",
         "settled 50 %", "90 %", "99 %"),
        rows,
    )  # fmt: skip
