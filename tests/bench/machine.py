"""On what a run was made: the machine's kind, and the versions. Nothing that names a place."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from surestep.embedded_process import find_binary

from .contender import ROOT


def machine() -> dict[str, Any]:
    return {
        "begun": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "load_before": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "surestep": version("surestep"),
        "temporalio": version("temporalio"),
        "temporal": _temporal(),
        "peers": (ROOT / "tests/bench/peers.lock").read_text().split(),
    }


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _temporal() -> str:
    binary = find_binary()
    if binary is None:
        return "unknown"
    told = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False)
    return told.stdout.strip().removeprefix("temporal version ")
