"""Tools of the tests find the world of their test."""

import pytest

from surestep.testing import World


@pytest.fixture(autouse=True)
def world_url(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_URL", world.url)
