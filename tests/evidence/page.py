"""docs/evidence.md: the prose of page.md, with tables and numbers from the results."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from . import further_tables, native_tables, wrapper_tables
from .arms import BACKOFF
from .campaign import REPRODUCTION, Result
from .cost import EVERYWHERE, NATIVE, costs, name, native, total
from .crashes import POINTS
from .declarations import TOO_SMALL
from .executor import HORIZON
from .interval import wilson
from .published import BUCKET
from .service import CLIENT_LIMIT
from .wrapper import LONGEST_LAG

TEMPLATE: Final = Path(__file__).with_name("page.md")


def page(
    results: Sequence[Result], twin: Mapping[str, Any], crashed: Sequence[dict[str, Any]]
) -> str:
    e1, e2, e4 = ([one for one in results if one.experiment == name] for name in ("E1", "E2", "E4"))
    repeated = [one for one in results if one.experiment == REPRODUCTION.name]
    n = e1[0].n
    parts = {
        "seeds": n,
        "last_seed": n - 1,
        "zero": f"{100 * wilson(0, n)[1]:.1f}",
        "horizon": round(2 * HORIZON / 86_400),
        "client_limit": f"{CLIENT_LIMIT:g}",
        "lag": f"{LONGEST_LAG:g}",
        "backoff": f"{BACKOFF:g}",
        "bucket": f"{BUCKET:g}",
        "too_small": f"{TOO_SMALL.total_seconds():g}",
        "e1_episodes": 2 * n,
        "more_seeds": repeated[0].n,
        "reproduction": wrapper_tables.reproduction(repeated),
        "reproduced_words": _reproduced(repeated),
        "e1_independent": wrapper_tables.wrapper_arms(e1, "independent"),
        "e1_categorical": wrapper_tables.wrapper_arms(e1, "categorical"),
        "e2_native": native_tables.native_arms(e2, NATIVE),
        "e2_keys": native_tables.native_arms(e2, EVERYWHERE),
        "native_n": _episodes(e2, NATIVE),
        "keys_n": _episodes(e2, EVERYWHERE),
        "e2_humans": native_tables.humans(e2),
        "e2_promised": native_tables.faults(e2, "Δ promised"),
        "e2_unpromised": native_tables.faults(e2, "Δ not promised"),
        "broken": native_tables.broken(results),
        "undisturbed": native_tables.undisturbed(e2),
        "twin": twin_words(twin),
        "e3": further_tables.crashes(crashed),
        "points": "\n".join(f"| {point} | {truth} |" for point, truth in POINTS.items()),
        "e4": further_tables.keylife(e4),
        "e4_seeds": e4[0].n,
        "e4_absent": further_tables.absent(e4),
        "e5": further_tables.costs(costs(results)),
        "avoidable_words": _avoidable(results),
        "avoidable": native_tables.avoidable(results),
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: str(parts[found[1]]), text)


def _episodes(results: Sequence[Result], services: str) -> int:
    """Of each arm."""
    return total([one for one in native(results, services) if name(one) == "published"], "n")


def held(results: Sequence[Result]) -> list[Result]:
    """Surestep's cells whose hypotheses hold."""
    return [one for one in results if one.surestep and not one.broken]


def _reproduced(results: Sequence[Result]) -> str:
    said = []
    for reading in ("independent", "categorical"):
        for arm, words in (("blind retry", "the baseline"), ("published", "the wrapper")):
            does = wrapper_tables.reproduced(results, reading, arm)
            verb = (
                "is reproduced at every level" if does else "is **not** reproduced at every level"
            )
            said.append(f"* {reading.capitalize()} reading: {words} {verb}.")
    return "\n".join(said)


def _avoidable(results: Sequence[Result]) -> str:
    chosen = held(results)
    actions, asked, avoidable = (total(chosen, one) for one in ("actions", "asked", "avoidable"))
    said = f"Where the hypotheses hold, {asked} of {actions} actions were put to a human, and "
    if not avoidable:
        return f"{said}none of these questions was avoidable."
    return (
        f"{said}{avoidable} of these questions were avoidable: "
        f"{1000 * avoidable / actions:.1f} per thousand actions, {100 * avoidable / asked:.1f} % "
        "of the questions. Where an effect becomes visible once a human is asked, the next look "
        f"sees it, and the question is withdrawn: {total(chosen, 'avoidable_withdrawn')} of the "
        f"{avoidable} before a human came."
    )


def twin_words(twin: Mapping[str, Any]) -> str:
    stories, agree, in_step = twin["stories"], twin["same_end"], twin["in_step"]
    words = (
        f"Of {stories} stories, {agree} came to the same state, the same number of effects and "
        f"requests and the same questions in both, {in_step} of them also at the same times "
        "(within 3 s and a twentieth, as the machine's own time passes in one of them)."
    )
    if twin["differences"]:
        words += " The others are in `evidence/twin.json`."
    return words
