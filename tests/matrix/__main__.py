"""`python -m tests.matrix`: run every cell, write docs/matrix.md, and sum up as JSON."""

import argparse
import asyncio
import json
import logging
import os
import sys
import time
from collections import Counter
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from surestep.embedded import embedded_server

from .cell import Cell, Result
from .columns import GIVES_UP, IN_FLIGHT
from .matrix import cells, judge
from .page import HEAD, PLACE, entry, page
from .verdict import totals, violations

LOG = Path(__file__).parents[2] / "build" / "matrix.log"
"""What the tools and the worker say: every fault is an exception that a tool raises."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.matrix", description=__doc__)
    parser.add_argument("--only", default="", help="cells whose name contains this; no page")
    parser.add_argument("--evidence", action="store_true", help="tell the evidence of every cell")
    parser.add_argument("--page", type=Path, default=PLACE, help="where the page is written")
    options = parser.parse_args()
    chosen = [cell for cell in cells() if options.only in cell.name]

    begun = time.monotonic()
    LOG.parent.mkdir(exist_ok=True)
    logging.basicConfig(filename=LOG, filemode="w", level=logging.WARNING)
    with TemporaryDirectory(prefix="surestep-matrix-") as folder:
        results = asyncio.run(_run(chosen, Path(folder)))
    print(f"{len(results)} cells in {time.monotonic() - begun:.0f} s", flush=True)

    for result in results if options.evidence else []:
        print(f"\n{_told(result)}")
    if not options.only:
        head = HEAD.format(in_flight=IN_FLIGHT, gives_up=GIVES_UP)
        options.page.write_text(page(results, head), encoding="utf-8")
    outside = [one for one in results if one.cell.broken]
    said = Counter(entry(one) for one in outside)
    print(f"hypothesis broken: {len(outside)} cells, not counted: {dict(sorted(said.items()))}")
    print(json.dumps(asdict(totals(results))))
    return 1 if any(violations(one) for one in results) else 0


def _told(result: Result) -> str:
    found = "; ".join(violations(result)) or "as it should be"
    return f"{result.cell.name}: {entry(result)}; {found}\n{result.told}"


async def _run(chosen: list[Cell], folder: Path) -> list[Result]:
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    done = 0

    def said(result: Result) -> None:
        nonlocal done
        done += 1
        if violations(result):
            print(_told(result), flush=True)
        if done % 100 == 0:
            print(f"{done} of {len(chosen)}", flush=True)

    async with embedded_server(folder / "temporal", linger=timedelta(0)) as server:
        client = await Client.connect(server.address, data_converter=pydantic_data_converter)
        return await judge(chosen, client, folder / "world", said)


if __name__ == "__main__":
    code = main()
    # The SDK can crash while the interpreter is being taken down; everything is written by now.
    sys.stdout.flush()
    os._exit(code)
