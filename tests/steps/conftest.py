"""What every test of a step needs: tools that find the world, and workers in processes."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from surestep.testing import World
from tests.steps.processes import Workers


@pytest.fixture(autouse=True)
def _world_url(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_URL", world.url)


@pytest.fixture
async def workers(
    temporal_address: str, world: World, tmp_path: Path, step_id: str
) -> AsyncIterator[Workers]:
    """Workers in processes of their own, on a queue of this test; all are killed at its end."""
    async with AsyncExitStack() as stack:
        yield Workers(stack, temporal_address, world.url, tmp_path, queue=step_id)
