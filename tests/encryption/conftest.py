"""Workers in processes, a world, and key rings in files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.encryption.rings import RingFile
from tests.steps.conftest import _world_url, workers

__all__ = ["_world_url", "ring_file", "workers"]


@pytest.fixture
def ring_file(tmp_path: Path) -> Callable[[str], RingFile]:
    """The file of a ring, for the process of this name."""
    return lambda name: RingFile(tmp_path / f"{name}.toml")
