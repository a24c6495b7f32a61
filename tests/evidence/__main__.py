"""`python -m tests.evidence`: run every experiment, write evidence/ and docs/evidence.md."""

import argparse
import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from temporalio.runtime import Runtime, TelemetryConfig

from . import figures, twin
from .campaign import EXPERIMENTS, REPRODUCTION, Result, run
from .cost import costs, total
from .crashes import crashes
from .page import held, page
from .raw import read, write, write_cells
from .stories import stories
from .wrapper_tables import reproduced

ROOT: Final = Path(__file__).parents[2]
LOG: Final = ROOT / "build" / "evidence.log"
SEEDS: Final = 400


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.evidence", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="episodes per simulated cell")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--simulated", action="store_true", help="keep the results of the real parts as they are"
    )
    options = parser.parse_args()
    begun = time.monotonic()
    LOG.parent.mkdir(exist_ok=True)
    logging.basicConfig(filename=LOG, filemode="w", level=logging.WARNING)

    results = run((*EXPERIMENTS, REPRODUCTION), options.seeds, options.processes)
    folder = ROOT / "evidence"
    for one in (*EXPERIMENTS, REPRODUCTION):
        write_cells(folder / f"{one.name.lower().replace(' ', '-')}.json", results, one.name)
    write(folder / "e5.json", costs(results))
    _tell(begun, f"{len(results)} simulated cells, {options.seeds} seeds each")
    if not options.simulated:
        # The SDK tells of every worker and server that goes away; here that is the point.
        Runtime.set_default(Runtime(telemetry=TelemetryConfig(logging=None)))
        compared = asyncio.run(twin.compare(stories(seeds=1)))
        write(folder / "twin.json", compared)
        _tell(begun, f"{compared['stories']} stories through the real workflow as well")
        write(folder / "e3.json", asyncio.run(crashes()))
        _tell(begun, "crashes")
    compared, crashed = read(folder / "twin.json"), read(folder / "e3.json")
    figures.draw(results)
    (ROOT / "docs" / "evidence.md").write_text(page(results, compared, crashed), encoding="utf-8")
    last = summary(results, crashed, time.monotonic() - begun)
    print(json.dumps(last))
    return 1 if last["surestep_duplicates"] or last["surestep_false_states"] else 0


def summary(
    results: Sequence[Result], crashed: Sequence[dict[str, Any]], seconds: float
) -> dict[str, Any]:
    """The last line. Of Surestep only cells whose hypotheses hold are counted."""
    chosen = held(results)
    ours = [one for one in crashed if one["arm"].startswith("Surestep")]
    false = ("false_confirmed", "false_not_found")
    return {
        "cells": len(results) + len(crashed),
        "surestep_duplicates": sum(one.flags["duplicate"] for one in chosen)
        + sum(one["duplicates"] for one in ours),
        "surestep_false_states": sum(one.flags[flag] for one in chosen for flag in false)
        + sum(one["denied"] for one in ours),
        "asked_avoidable_per_thousand": round(
            1000 * total(chosen, "avoidable") / total(chosen, "actions"), 2
        ),
        "reproduced_published_baseline": reproduced(
            [one for one in results if one.experiment == REPRODUCTION.name],
            "independent",
            "blind retry",
        ),
        "seconds": round(seconds),
    }


def _tell(begun: float, what: str) -> None:
    print(f"{time.monotonic() - begun:5.0f} s  {what}", flush=True)


if __name__ == "__main__":
    code = main()
    # The SDK can crash while the interpreter is being taken down; everything is written by now.
    sys.stdout.flush()
    os._exit(code)
