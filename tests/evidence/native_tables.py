"""E2's tables."""

from collections.abc import Sequence
from typing import Final

from .campaign import Result, percentiles
from .cost import NATIVE, cost, name, native, total
from .sheet import by, flag, seconds, short, table

PUBLISHED: Final = {
    "plain agent": "77",
    "library retries": "51",
    "verify before retry": "76",
    "oracle client": "88",
}
"""Exactly once, in per cent (arXiv 2609.29095), over another mixture of faults."""


def native_arms(results: Sequence[Result], services: str) -> str:
    """All faults and contracts together."""
    rows = []
    for arm, group in by(native(results, services), name):
        published = PUBLISHED.get(arm, "–") if services == NATIVE else "–"
        rows.append(
            (
                arm, published, flag(group, "exact"), flag(group, "duplicate"),
                *(short(group, one) for one in
                  ("missing", "false_confirmed", "false_not_found", "over_claimed", "asked",
                   "by_itself")),
            )
        )  # fmt: skip
    return table(
        ("arm", "published: exactly once", "exactly once %", "duplicates %", "missing",
         "false confirmed", "false not found", "over-claims", "asked", "exactly once, no human"),
        rows,
    )  # fmt: skip


def humans(results: Sequence[Result]) -> str:
    """What went to a human, and how long each took; cells whose hypotheses hold."""
    chosen = [one for one in results if one.surestep and not one.broken]
    rows = []

    def place(one: Result) -> tuple[str, str, str]:
        keys = "keys" if one.cell["keys"] or one.cell["kind"] == "keyed" else "native"
        return one.cell["kind"], keys, one.cell["arm"]

    for (kind, keys, arm), group in by(chosen, place):
        if arm in ("hasty human", "key not honoured", "Δ too small"):
            continue
        waited = percentiles([time for one in group for time in one.human])
        settled = percentiles([time for one in group for time in one.settled])
        asked = total(group, "asked")
        assert settled
        rows.append(
            (
                kind, keys, arm, flag(group, "exact"), short(group, "by_itself"),
                f"{1000 * asked / total(group, 'actions'):.0f}",
                f"{1000 * total(group, 'avoidable') / total(group, 'actions'):.1f}",
                f"{100 * total(group, 'withdrawn') / asked:.0f} %" if asked else "–",
                seconds(waited["p50"]) if waited else "–",
                seconds(settled["p50"]), seconds(settled["p90"]),
            )
        )  # fmt: skip
    return table(
        ("contract", "services", "declared", "exactly once %", "no human", "asked ‰",
         "avoidable ‰", "answered by evidence first", "asked to settled, median",
         "settled, median", "settled, 90 %"),
        rows,
    )  # fmt: skip


def faults(results: Sequence[Result], arm: str) -> str:
    """Which classes of fault go to a human under one declaration, per native contract."""
    kinds = list(dict.fromkeys(one.cell["kind"] for one in results))
    rows = []
    for fault, group in by(results, lambda one: one.cell["fault"]):
        row = [fault]
        for kind in kinds:
            cell = [one for one in group if one.is_of(kind=kind, keys=False, arm=arm)]
            row.append(_entry(cell[0]) if cell else "–")
        rows.append(row)
    return table(("fault", *kinds), rows)


def _entry(cell: Result) -> str:
    if cell.broken:
        return "†"
    settled = percentiles(cell.settled)
    assert settled
    asked = f"{100 * cell.asked / cell.actions:.0f} %, " if cell.asked else ""
    return f"{asked}{seconds(settled['p50'])}"


def broken(results: Sequence[Result]) -> str:
    """Where a hypothesis does not hold: what came of it under Surestep, and whether it was noticed.

    The faults that came to nothing all the same are one line.
    """
    harm = ("duplicate", "false_confirmed", "false_not_found")

    def place(one: Result) -> tuple[str, str]:
        return one.broken or "", one.cell.get("fault") or one.experiment

    groups: dict[tuple[str, str], list[Result]] = {}
    for (reason, where), group in by(
        [one for one in results if one.broken and one.surestep], place
    ):
        harmed = any(one.flags[name] for one in group for name in harm)
        groups.setdefault((reason, where if harmed else "the others"), []).extend(group)
    rows = [
        (reason, where, str(total(group, "n")), flag(group, "duplicate"), flag(group, *harm[1:]),
         short(group, "reported"))
        for (reason, where), group in sorted(groups.items())
    ]  # fmt: skip
    return table(
        ("hypothesis", "fault", "episodes", "duplicates %", "false states %",
         "an anomaly was reported %"),
        rows,
    )  # fmt: skip


def avoidable(results: Sequence[Result]) -> str:
    """The cells with avoidable questions, the worst first."""
    found = [one for one in results if one.surestep and not one.broken and one.avoidable]
    found.sort(key=lambda one: -one.avoidable)
    rows = [
        (one.cell.get("kind", one.experiment), one.cell.get("fault", "–"), one.cell["arm"],
         str(one.actions), str(one.asked), str(one.avoidable), f"{one.withdrawn}")
        for one in found
    ]  # fmt: skip
    return table(
        ("contract", "fault", "declared", "actions", "asked", "of them avoidable",
         "answered by evidence before the human came"),
        rows,
    )  # fmt: skip


def undisturbed(results: Sequence[Result]) -> str:
    """The control: no fault at all."""
    rows = []
    for arm, group in by([one for one in results if one.cell["fault"] == "none"], name):
        one = cost(group)
        rows.append((arm, f"{one['exact_percent']:.1f}", f"{one['reads_per_action']:.2f}",
                     f"{one['reads_of_watches_per_action']:.2f}",
                     f"{one['extra_requests_per_action']:.2f}",
                     f"{one['asked_unavoidably_per_thousand']:.1f}"))  # fmt: skip
    return table(
        ("arm", "exactly once %", "reads", "reads of watches", "extra requests", "asked ‰"), rows
    )
