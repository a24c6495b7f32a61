"""Prometheus's own tool, which checks rules and runs their tests; a Debian package brings it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = ROOT / "docs/observability"


def promtool(*words: str, folder: Path = FILES, given: str | None = None) -> str:
    """What it says. Skips the test where it is not installed, unless PROMETHEUS=required."""
    tool = shutil.which("promtool")
    if tool is None:
        if os.environ.get("PROMETHEUS") == "required":
            pytest.fail("promtool is missing: apt-get install prometheus")
        pytest.skip("promtool is not installed: apt-get install prometheus")
    ended = subprocess.run(
        [tool, *words], cwd=folder, input=given, capture_output=True, text=True, timeout=60
    )
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said
    return said
