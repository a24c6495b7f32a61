"""`python -m tests.bench`: run every row, write raw results, page and figures, print the sum."""

import argparse
import asyncio
import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from temporalio.runtime import LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter

from . import contest, embedded, figures, flow, growth, looks, parked
from .contender import ROOT
from .judgement import last_line, missed, wrong
from .machine import machine
from .page import page
from .size import SIZES, Size

LOG: Final = ROOT / "build" / "bench.log"
PARTS: Final[dict[str, Callable[[Size, Path], Any]]] = {
    "flow": flow.flow,
    "embedded": embedded.embedded,
    "durability": embedded.durability,
    "width": growth.width,
    "looks": looks.looks,
    "contest": contest.contest,
    "parked": parked.parked,
    "growth": growth.growth,
}
LONGEST: Final = {"tiny": 300, "small": 600, "full": 3000}
"""Seconds for one part; what takes longer has failed."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this; may be repeated")
    parser.add_argument(
        "--publish", action="store_true", help="write evidence/ and docs/ although it is not full"
    )
    parser.add_argument("--again", action="store_true", help="only the page, from the last results")
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    size = SIZES[options.size]
    if options.result:
        return _part(options.part[0], size, options.result)
    published = options.publish or (size.name == "full" and not options.part)
    into = ROOT if published else ROOT / "build" / "bench"
    raw = into / "evidence" / "bench.json"
    if options.again:
        results = json.loads(raw.read_text(encoding="utf-8"))
    else:
        results = {"run": machine(), "size": asdict(size)}
        for part in options.part or PARTS:
            results[part] = _alone(part, size)
        results["run"]["seconds"] = round(sum(results[one]["seconds"] for one in _ran(results)))
        raw.parent.mkdir(parents=True, exist_ok=True)
        raw.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return _told(results, into)


def _ran(results: dict[str, Any]) -> list[str]:
    return [one for one in PARTS if one in results]


def _told(results: dict[str, Any], into: Path) -> int:
    last = last_line(results)
    if len(_ran(results)) == len(PARTS) and not any("failed" in results[one] for one in PARTS):
        figures.draw(results, into / "docs" / "figures")
        (into / "docs").mkdir(parents=True, exist_ok=True)
        (into / "docs" / "performance.md").write_text(page(results), encoding="utf-8")
    problems = wrong(results)
    for one in problems:
        print(f"WRONG    {one}")
    for one in missed(last):
        print(f"MISSED   {one}")
    print(json.dumps(last))
    return 1 if problems else 0


def _alone(part: str, size: Size) -> dict[str, Any]:
    """In a process of its own, so that no part inherits the memory of another."""
    begun = time.monotonic()
    with TemporaryDirectory(prefix="surestep-bench-") as name:
        result = Path(name) / "result.json"
        command = [sys.executable, "-m", "tests.bench", "--size", size.name]
        command += ["--part", part, "--result", str(result)]
        failed = _ended(command, LONGEST[size.name])
        told: dict[str, Any] = json.loads(result.read_text()) if result.exists() else {}
    told = told or {"failed": failed}
    told["seconds"] = round(time.monotonic() - begun, 1)
    print(f"{told['seconds']:6.0f} s  {part}{' FAILED' if 'failed' in told else ''}", flush=True)
    return told


def _ended(command: list[str], within: float) -> str:
    """Why it has not ended well, if it has not. Nothing of what it started is left."""
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    try:
        code = process.wait(within)
        return f"exit code {code}, see build/bench.log"
    except subprocess.TimeoutExpired:
        return f"not within {within:g} s"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _part(part: str, size: Size, result: Path) -> int:
    LOG.parent.mkdir(exist_ok=True)
    logging.basicConfig(filename=LOG, level=logging.WARNING, format="%(asctime)s %(message)s")
    # Every question to a person is a warning, and here thousands are asked.
    logging.getLogger("temporalio").setLevel(logging.ERROR)
    quiet = TelemetryFilter(core_level="ERROR", other_level="ERROR").formatted()
    Runtime.set_default(Runtime(telemetry=TelemetryConfig(logging=LoggingConfig(filter=quiet))))
    with TemporaryDirectory(prefix="surestep-bench-") as folder:
        try:
            told = asyncio.run(PARTS[part](size, Path(folder)))
        except Exception:
            logging.getLogger("bench").exception("%s did not end", part)
            return 1
    result.write_text(json.dumps(told), encoding="utf-8")
    return 0


if __name__ == "__main__":
    code = main()
    # The SDK can crash while the interpreter is being taken down; everything is written by now.
    sys.stdout.flush()
    os._exit(code)
