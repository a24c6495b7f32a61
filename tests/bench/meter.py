"""What a process costs: CPU seconds and memory, as the kernel counts them (Linux)."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TICKS: Final = os.sysconf("SC_CLK_TCK")
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
PROC: Final = Path("/proc")


@dataclass(frozen=True)
class Meter:
    """One process; with `family` also every process below it, as PostgreSQL has them."""

    pid: int
    family: bool = False

    def cpu(self) -> float:
        """Seconds on a CPU, by user and kernel, since the process began."""
        return sum(_cpu(pid) for pid in self._pids())

    def rss_mb(self) -> float:
        """Resident memory in MiB."""
        return sum(_rss(pid) for pid in self._pids()) / 2**20

    def _pids(self) -> list[int]:
        return [self.pid, *(_descendants(self.pid) if self.family else ())]


def _fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the third on; none where the process is gone."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _cpu(pid: int) -> float:
    fields = _fields(pid)
    return sum(int(one) for one in fields[11:13]) / TICKS


def _rss(pid: int) -> int:
    try:
        return int((PROC / str(pid) / "statm").read_text().split()[1]) * PAGE
    except OSError:
        return 0


def _descendants(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (fields := _fields(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, open_ = [], [pid]
    while open_:
        below = children.get(open_.pop(), [])
        found += below
        open_ += below
    return found
