"""`python -m tests.chaos`: one run of chaos, what it survived, and its sum as JSON."""

import argparse
import asyncio
import logging
import os
import sys
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory

from temporalio.runtime import Runtime, TelemetryConfig

from tests.chaos.judgement import judge
from tests.chaos.plan import plan
from tests.chaos.report import last_line, story, table
from tests.chaos.run import run

LOG = Path(__file__).parents[2] / "build" / "chaos.log"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, help="the same seed, the same plan; default: any")
    parser.add_argument("--plan", action="store_true", help="print the plan and leave")
    options = parser.parse_args(arguments)
    seed = SystemRandom().randrange(1_000_000) if options.seed is None else options.seed
    planned = plan(seed, options.minutes)
    if options.plan:
        print(planned)
        return 0
    LOG.parent.mkdir(exist_ok=True)
    logging.basicConfig(filename=LOG, filemode="w", level=logging.WARNING)
    # The SDK tells of every call that meets a server that is down; here that is the point.
    Runtime.set_default(Runtime(telemetry=TelemetryConfig(logging=None)))
    actions = sum(len(step.actions) for step in planned.steps)
    print(
        f"seed {seed}: {actions} actions in {len(planned.steps)} steps, {len(planned.blows)} "
        f"blows to {planned.workers} workers and the server, {options.minutes:g} minutes",
        flush=True,
    )
    with TemporaryDirectory(prefix="surestep-chaos-") as folder:
        ended = asyncio.run(run(planned, Path(folder), lambda text: print(text, flush=True)))
    violations = judge(ended.cases, ended.struck)
    print(f"\n{table(ended)}\n")
    for one in violations:
        print(f"{story(one, ended.struck)}\n")
    if violations:
        print(f"seed {seed}, {options.minutes:g} minutes: {len(violations)} violations")
    print(last_line(ended, violations))
    return 1 if violations else 0


if __name__ == "__main__":
    code = main()
    # The SDK can crash while the interpreter is being taken down; everything is written by now.
    sys.stdout.flush()
    os._exit(code)
