from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from surestep.conformance import check
from surestep.testing import Service, World

from .services import Shop

ARGUMENTS = {"order": "7781", "cents": 2500}

SERVICES = (
    Service("keyed", key_lifetime=timedelta(hours=24)),
    Service("keyed_blind", key_lifetime=timedelta(hours=24), lookup=False),
    Service("lookup"),
    Service("lagging", lag=timedelta(milliseconds=300)),
    Service("blind", lookup=False),
    Service("queued", key_lifetime=timedelta(hours=24), accepts_for=timedelta(milliseconds=100)),
    Service("fenced", fences=True),
    Service("unfenced"),
)


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
async def sandbox(tmp_path, monkeypatch) -> AsyncIterator[World]:
    """A world with prompt services, to which the tools go."""
    async with World.start(folder=tmp_path / "world", services=SERVICES) as world:
        monkeypatch.setenv("SERVICE_URL", world.url)
        yield world


@pytest.fixture
def shop(monkeypatch):
    """`async with shop("replays") as it:`, to which the tools go."""

    @asynccontextmanager
    async def started(lie):
        async with Shop.start(lie) as running:
            monkeypatch.setenv("SERVICE_URL", running.url)
            yield running

    return started


async def checked(tool, arguments=ARGUMENTS, /, **options):
    """A check that is impatient where a test's service is prompt."""
    impatient = {"patience": timedelta(seconds=0.6), "gap": timedelta(0)}
    return await check(tool, arguments, sandbox=True, **impatient | options)


def verdicts(report, verdict):
    return {str(row.promise) for row in report.rows if row.verdict == verdict}
